import uuid
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from eval_pipeline.cases import Case
from eval_pipeline.errors import EvalError, NotStoredError
from eval_pipeline.traces import AgentTrace
from eval_pipeline.warehouse import storage
from eval_pipeline.warehouse.arrow_schemas import CASES, TRACES, conform
from eval_pipeline.warehouse.runs import Run, runs_table
from eval_pipeline.warehouse.store import Keys, Warehouse
from eval_pipeline.warehouse.suite_rows import cases_table
from eval_pipeline.warehouse.trace_rows import traces_from, traces_table

CELL: Keys = {"suite": "docs", "dataset": "v1@98b0e5bca6c8", "candidate": "gemma@573cd471224c"}
TRACE = AgentTrace("backup", answer="In tasks.db.")
RUN = Run(
    run_id="r/1",
    stored_at=datetime(2026, 11, 30, 12, 0, tzinfo=UTC),
    suite="docs",
    candidate="gemma@573cd471224c",
    dataset="v1@98b0e5bca6c8",
    record_mode="none",
    cases=10,
    passed=9,
    failed=1,
    errors=0,
    not_measured=0,
)


@pytest.fixture(params=["local", "memory"])
def root(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return str(tmp_path / "w") if request.param == "local" else f"memory://{uuid.uuid4().hex}/w"


def test_a_table_comes_back(root: str) -> None:
    warehouse = Warehouse(root)
    where = warehouse.write("traces", traces_table([TRACE]), **CELL)
    assert where == (
        f"{root}/traces/suite=docs/dataset=v1@98b0e5bca6c8/candidate=gemma@573cd471224c/part.parquet"
    )
    assert traces_from(Warehouse(root).read("traces", **CELL)) == [TRACE]


def test_a_second_write_replaces_the_first_and_leaves_nothing_beside(tmp_path: Path) -> None:
    warehouse = Warehouse(str(tmp_path))
    warehouse.write("traces", traces_table([TRACE, TRACE]), **CELL)
    path = Path(warehouse.write("traces", traces_table([TRACE]), **CELL))
    assert warehouse.read("traces", **CELL).num_rows == 1
    assert [found.name for found in path.parent.iterdir()] == ["part.parquet"]
    assert pq.ParquetFile(path).metadata.row_group(0).column(0).compression == "ZSTD"


def test_a_table_of_a_dataset_needs_no_candidate(root: str) -> None:
    warehouse = Warehouse(root)
    cases = cases_table([Case("backup", "where?")])
    where = warehouse.write("cases", cases, suite="docs", dataset="v1@98b0e5bca6c8")
    assert where.endswith("/cases/suite=docs/dataset=v1@98b0e5bca6c8/part.parquet")
    assert warehouse.read("cases", suite="docs", dataset="v1@98b0e5bca6c8") == cases


def test_samples_stay_apart(root: str) -> None:
    sample = Warehouse(root, sample="night-1")
    where = sample.write("traces", traces_table([TRACE]), **CELL)
    assert where.startswith(f"{root}/samples/night-1/traces/suite=docs/")
    assert sample.read("traces", **CELL).num_rows == 1
    with pytest.raises(NotStoredError):
        Warehouse(root).read("traces", **CELL)


def test_what_is_not_stored_names_itself_and_the_command(root: str) -> None:
    with pytest.raises(NotStoredError) as failure:
        Warehouse(root, sample="night-1").read("traces", **CELL)
    assert str(failure.value) == (
        "no traces of suite docs, dataset v1@98b0e5bca6c8, candidate gemma@573cd471224c, sample night-1 at "
        f"{root}/samples/night-1/traces/suite=docs/dataset=v1@98b0e5bca6c8/candidate=gemma@573cd471224c"
        "/part.parquet; run: eval-pipeline run docs --candidate gemma --dataset v1"
    )


def test_a_text_stands_beside_its_table(root: str) -> None:
    warehouse = Warehouse(root)
    where = warehouse.write_text("stage_report", "report.json", '{"answer": "é\ud800"}\n', **CELL)
    assert where.endswith("/candidate=gemma@573cd471224c/report.json")
    assert warehouse.read_text("stage_report", "report.json", **CELL) == '{"answer": "é\\ud800"}\n'
    with pytest.raises(NotStoredError, match="eval-pipeline run docs"):
        warehouse.read_text("traces", "report.json", **CELL)


def test_a_file_of_an_older_version_is_read_with_nulls_for_what_it_lacks(tmp_path: Path) -> None:
    warehouse = Warehouse(str(tmp_path))
    path = warehouse.write("traces", traces_table([TRACE]), **CELL)
    pq.write_table(traces_table([TRACE]).drop_columns(["inputs_hash", "replayed"]), path)
    table = warehouse.read("traces", **CELL)
    assert table.schema == TRACES
    assert table["inputs_hash"].to_pylist() == [None]


def test_a_broken_file_is_named_with_what_to_do(tmp_path: Path) -> None:
    warehouse = Warehouse(str(tmp_path))
    path = Path(warehouse.write("traces", traces_table([TRACE]), **CELL))
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(
        EvalError, match=r"part\.parquet: unreadable: .*; delete it and run: eval-pipeline run docs"
    ):
        warehouse.read("traces", **CELL)


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "w").write_text("a file where the folder should be")
    with pytest.raises(EvalError, match=r"cannot be written: .*EVAL_WAREHOUSE names another place"):
        Warehouse(str(tmp_path / "w")).write("traces", traces_table([TRACE]), **CELL)


def test_a_disk_without_room_for_the_last_buffer_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(storage, "_create", lambda path: Path("/dev/full").open("wb"))
    with pytest.raises(EvalError, match="No space left on device; EVAL_WAREHOUSE names another place"):
        Warehouse(str(tmp_path)).write("traces", traces_table([TRACE]), **CELL)


@pytest.mark.parametrize(("url", "problem"), [("nosuch://x", "nosuch"), ("s3://bucket/x", "s3fs|s3")])
def test_a_store_that_is_not_installed_is_an_error_that_says_so(url: str, problem: str) -> None:
    with pytest.raises(EvalError, match=f"cannot be opened: .*({problem}).*install"):
        Warehouse(url).write("traces", traces_table([TRACE]), **CELL)


@pytest.mark.parametrize("sample", ["..", "a/b", "", "a b", "."])
def test_a_sample_that_is_no_folder_name_is_refused(sample: str, tmp_path: Path) -> None:
    with pytest.raises(EvalError, match="cannot name a folder"):
        Warehouse(str(tmp_path), sample=sample).write("traces", traces_table([TRACE]), **CELL)


def test_wrong_columns_and_wrong_keys_are_programming_errors(tmp_path: Path) -> None:
    warehouse = Warehouse(str(tmp_path))
    with pytest.raises(ValueError, match="traces: the columns are"):
        warehouse.write("traces", pa.table({"case_id": ["a"]}), **CELL)
    with pytest.raises(ValueError, match="traces is stored by suite, dataset, candidate; given: suite"):
        warehouse.write("traces", traces_table([TRACE]), suite="docs")


def test_missing_required_values_never_reach_a_file(tmp_path: Path) -> None:
    table = conform(pa.table({"case_id": ["a"]}), CASES)
    with pytest.raises(pa.ArrowInvalid, match="non-nullable"):
        Warehouse(str(tmp_path)).write("cases", table, suite="docs", dataset="v1@1")


def test_the_catalogue_is_always_local(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert Warehouse("w").catalogue_path == tmp_path / "w" / "evals.duckdb"
    remote = [Warehouse(root).catalogue_path for root in ("memory://w", "memory://x")]
    assert [path.parent for path in remote] == [tmp_path / "warehouse"] * 2
    assert len({*remote, Warehouse("warehouse").catalogue_path}) == 3  # none takes another's place
    assert Warehouse("memory://w", catalogue=Path("c.duckdb")).catalogue_path == tmp_path / "c.duckdb"


def test_each_run_is_a_file_sorted_by_time(tmp_path: Path) -> None:
    cet = timezone(timedelta(hours=1))
    later = datetime(2026, 11, 30, 13, 0, 0, 5, tzinfo=cet)
    assert RUN.file_name.startswith("20261130T120000000000Z-r-1-")
    other = Run(**{**RUN.__dict__, "stored_at": later, "candidate": "gemini@a7990e4dc62c"})
    warehouse = Warehouse(str(tmp_path))
    paths = [warehouse.append_run(run) for run in (RUN, other, RUN)]
    assert paths[0] == paths[2] < paths[1]
    assert pq.read_table(paths[1])["stored_at"].to_pylist() == [later]


def test_two_cells_of_one_run_are_two_files() -> None:
    other = Run(**{**RUN.__dict__, "candidate": "gemini@a7990e4dc62c"})
    assert RUN.file_name != other.file_name


def test_a_run_needs_a_time_zone() -> None:
    with pytest.raises(ValueError, match="no time zone"):
        Run(**{**RUN.__dict__, "stored_at": datetime(2026, 11, 30)})


def test_a_runs_row_holds_its_fields() -> None:
    (row,) = runs_table(RUN).to_pylist()
    assert row == RUN.__dict__
