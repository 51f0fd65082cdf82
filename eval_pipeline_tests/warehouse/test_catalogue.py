import multiprocessing
import os
import subprocess
import sys
import uuid
from dataclasses import replace
from pathlib import Path

import duckdb
import pyarrow.parquet as pq
import pytest

from eval_pipeline.calibration import CalibrationScore
from eval_pipeline.errors import EvalError, NotStoredError
from eval_pipeline.scores import CheckResult, Score
from eval_pipeline.suites import Cell
from eval_pipeline.traces import AgentTrace, ToolCall
from eval_pipeline.warehouse.arrow_schemas import RUNS, STORED_TABLES
from eval_pipeline.warehouse.calibration_rows import calibration_table
from eval_pipeline.warehouse.score_rows import scores_table
from eval_pipeline.warehouse.store import Warehouse
from eval_pipeline.warehouse.trace_rows import traces_table
from eval_pipeline_tests.warehouse.test_warehouse import RUN

OLD, NEW = Cell("docs", "gemma@012", "v1@1e5"), Cell("docs", "gemma@013", "v1@1e5")


def keys(cell: Cell) -> dict[str, str]:
    return {"suite": cell.suite, "dataset": cell.dataset, "candidate": cell.candidate}


def store(warehouse: Warehouse, cell: Cell, *case_ids: str) -> None:
    trace = AgentTrace("", tool_calls=(ToolCall("search_docs", {"query": "a\x00b"}, "page"),))
    warehouse.write("traces", traces_table([replace(trace, case_id=i) for i in case_ids]), **keys(cell))
    score = Score(1.0, "as expected", metrics={"hit": 1.0})
    checks = [CheckResult(i, 0, "tools", "passed", True, 1.0, "as expected", score) for i in case_ids]
    warehouse.write("stage_scores", scores_table(checks), **keys(cell))


def rows(warehouse: Warehouse, sql: str) -> list[tuple[object, ...]]:
    return [tuple(row.values()) for row in warehouse.query(sql).to_pylist()]


@pytest.fixture(params=["local", "odd", "memory"])
def warehouse(request: pytest.FixtureRequest, tmp_path: Path) -> Warehouse:
    if request.param == "memory":
        return Warehouse(f"memory://{uuid.uuid4().hex}/w", catalogue=tmp_path / "evals.duckdb")
    return Warehouse(str(tmp_path / ("w" if request.param == "local" else "it's/suite=x/[1] * ?")))


def test_every_view_is_there_and_typed_before_anything_is_stored(warehouse: Warehouse) -> None:
    warehouse.rebuild_catalogue([])
    names = {name for (name,) in rows(warehouse, "SELECT view_name FROM duckdb_views() WHERE NOT internal")}
    assert names == {
        *(f"{prefix}{asset}" for asset in (*STORED_TABLES, "runs") for prefix in ("", "sample_")),
        "current_traces",
        "current_stage_scores",
        "current_stage_report",
        *(f"{prefix}case_repeats" for prefix in ("", "current_", "sample_")),
        "current_calibration",
        "current_gate_decision",
    }
    for asset, stored in STORED_TABLES.items():
        assert warehouse.query(f"FROM {asset}").schema.names == [*stored.keys, *stored.schema.names]
        assert warehouse.query(f"FROM sample_{asset}").schema.names[:2] == ["sample", "suite"]
    assert warehouse.query("FROM runs").schema.types == RUNS.types
    assert warehouse.query("FROM current_traces").num_rows == 0


def test_every_column_can_be_named_without_quotes(tmp_path: Path) -> None:
    warehouse = Warehouse(str(tmp_path))
    warehouse.rebuild_catalogue([])
    for asset in (*STORED_TABLES, "runs"):
        columns = warehouse.query(f"FROM {asset}").schema.names
        assert warehouse.query(f"SELECT {', '.join(columns)} FROM {asset}").schema.names == columns
        assert warehouse.query(f"SELECT t.{', t.'.join(columns)} FROM {asset} AS t").schema.names == columns


def test_keys_are_text_whatever_they_look_like(warehouse: Warehouse) -> None:
    store(warehouse, OLD, "backup")
    warehouse.rebuild_catalogue([])
    assert rows(warehouse, "SELECT suite, dataset, candidate, case_id FROM traces") == [
        ("docs", "v1@1e5", "gemma@012", "backup")
    ]


def test_types_with_and_without_files_are_the_same(warehouse: Warehouse) -> None:
    warehouse.rebuild_catalogue([])
    empty = {asset: warehouse.query(f"FROM {asset}").schema for asset in ("traces", "stage_scores", "runs")}
    store(warehouse, OLD, "backup")
    warehouse.append_run(RUN)
    warehouse.rebuild_catalogue([])
    for asset, schema in empty.items():
        assert warehouse.query(f"FROM {asset}").schema == schema


def test_the_current_calibration_is_that_of_declared_judges(warehouse: Warehouse) -> None:
    score = CalibrationScore("engine", "faithfulness", "defect", 0, "failed", 0.7, 0.0, "PostgreSQL")
    for key in ("judge@old", "judge@new"):
        warehouse.write("calibration", calibration_table([score]), suite="docs", judge=key)
    warehouse.rebuild_catalogue([], [("docs", "judge@new"), ("other", "judge@old")])
    assert rows(warehouse, "SELECT judge, case_id FROM current_calibration") == [("judge@new", "engine")]
    assert rows(warehouse, "SELECT count(*) FROM calibration") == [(2,)]


def test_current_views_show_only_declared_cells(warehouse: Warehouse) -> None:
    store(warehouse, OLD, "backup")
    store(warehouse, NEW, "backup", "thanks")
    warehouse.rebuild_catalogue([NEW])
    assert rows(warehouse, "SELECT candidate, count(*) FROM traces GROUP BY ALL ORDER BY ALL") == [
        ("gemma@012", 1),
        ("gemma@013", 2),
    ]
    assert rows(warehouse, "SELECT DISTINCT candidate FROM current_traces") == [("gemma@013",)]
    assert rows(warehouse, "SELECT count(*) FROM current_stage_scores") == [(4,)]


def test_samples_have_views_of_their_own(warehouse: Warehouse) -> None:
    sample = replace(warehouse, sample="night-1")
    store(sample, NEW, "backup")
    sample.append_run(RUN)
    sample.rebuild_catalogue([NEW])
    assert rows(warehouse, "FROM current_traces") == []
    assert rows(warehouse, "FROM runs") == []
    assert rows(warehouse, "SELECT sample, suite, candidate, case_id FROM sample_traces") == [
        ("night-1", "docs", "gemma@013", "backup")
    ]
    expected = [("night-1", "r/1", RUN.stored_at)]
    assert rows(warehouse, "SELECT sample, run_id, stored_at FROM sample_runs") == expected


def test_nested_columns_and_json_can_be_queried(warehouse: Warehouse) -> None:
    store(warehouse, NEW, "backup")
    warehouse.rebuild_catalogue([NEW])
    sql = "SELECT call.name, call.arguments->>'query' FROM (SELECT unnest(tool_calls) AS call FROM traces)"
    assert rows(warehouse, sql) == [("search_docs", "a\x00b")]


def test_files_of_an_older_version_show_null_for_what_they_lack(tmp_path: Path) -> None:
    warehouse = Warehouse(str(tmp_path))
    store(warehouse, OLD, "backup")
    store(warehouse, NEW, "backup")
    (path,) = tmp_path.glob(f"traces/*/*/candidate={OLD.candidate}/part.parquet")
    pq.write_table(pq.ParquetFile(path).read().drop_columns(["answer", "inputs_hash"]), path)
    warehouse.rebuild_catalogue([])
    assert rows(warehouse, "SELECT answer, case_id FROM traces") == [(None, "backup")] * 2


def test_a_filter_on_a_key_reads_only_the_matching_files(tmp_path: Path) -> None:
    warehouse = Warehouse(str(tmp_path))
    store(warehouse, OLD, "backup")
    store(warehouse, NEW, "backup")
    warehouse.rebuild_catalogue([NEW])
    ((_, plan),) = rows(warehouse, "EXPLAIN ANALYZE FROM traces WHERE candidate = 'gemma@013'")
    assert "Scanning Files: 1/2" in str(plan)
    ((_, plan),) = rows(warehouse, "EXPLAIN ANALYZE FROM current_traces")
    assert "Total Files Read: 1" in str(plan)


def test_unfinished_files_are_not_seen(tmp_path: Path) -> None:
    warehouse = Warehouse(str(tmp_path))
    store(warehouse, NEW, "backup")
    (path,) = tmp_path.glob("traces/*/*/*/part.parquet")
    path.with_name("part.parquet.1234.tmp").write_bytes(b"half")
    warehouse.rebuild_catalogue([NEW])
    assert rows(warehouse, "SELECT count(*) FROM traces") == [(1,)]


def test_a_broken_file_is_named_by_the_query_and_stops_no_rebuild(tmp_path: Path) -> None:
    warehouse = Warehouse(str(tmp_path))
    store(warehouse, OLD, "backup")
    (path,) = tmp_path.glob("traces/*/*/*/part.parquet")
    path.write_bytes(b"PAR1 broken")
    warehouse.rebuild_catalogue([OLD])
    assert rows(warehouse, "SELECT count(*) FROM stage_scores") == [(2,)]
    with pytest.raises(EvalError, match=r"candidate=gemma@012/part\.parquet"):
        warehouse.query("FROM traces")


def test_a_catalogue_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "w").write_text("a file where the folder should be")
    with pytest.raises(EvalError, match=r"cannot be written: .*EVAL_WAREHOUSE names another place"):
        Warehouse(str(tmp_path / "w")).rebuild_catalogue([])


def test_what_a_killed_build_left_is_cleared_away(tmp_path: Path) -> None:
    (tmp_path / "evals.duckdb.0.tmp").write_bytes(b"half")
    Warehouse(str(tmp_path)).rebuild_catalogue([])
    assert sorted(path.name for path in tmp_path.iterdir()) == [".evals.duckdb.lock", "evals.duckdb"]


def test_no_catalogue_yet_says_what_makes_one(tmp_path: Path) -> None:
    with pytest.raises(
        NotStoredError, match=r"evals\.duckdb: no catalogue yet; run: eval-pipeline run SUITE"
    ):
        Warehouse(str(tmp_path)).query("SELECT 1")


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("SELECT * FROM trace", "Table with name trace does not exist.*\n?.*traces"),
        ("SELEC 1", "syntax error"),
        ("CREATE TABLE t (n INT)", "read-only"),
        ("SELECT 1/", "syntax error"),
        ("SELECT error('stop')", "stop"),
    ],
)
def test_wrong_sql_gives_duckdbs_own_message(tmp_path: Path, sql: str, message: str) -> None:
    warehouse = Warehouse(str(tmp_path))
    warehouse.rebuild_catalogue([])
    with pytest.raises(EvalError, match=message):
        warehouse.query(sql)


def test_a_statement_without_rows_gives_an_empty_table(tmp_path: Path) -> None:
    warehouse = Warehouse(str(tmp_path))
    warehouse.rebuild_catalogue([])
    assert warehouse.query("SET threads = 1").num_rows == 0


def test_the_file_opens_in_duckdb_itself_from_any_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    warehouse = Warehouse("w")
    store(warehouse, NEW, "backup")
    path = warehouse.rebuild_catalogue([NEW])
    monkeypatch.chdir("/")
    with duckdb.connect(str(path), read_only=True) as connection:
        assert connection.sql("SELECT case_id FROM current_traces").fetchall() == [("backup",)]


def test_a_query_sees_the_new_file_while_the_old_one_is_still_open(tmp_path: Path) -> None:
    warehouse = Warehouse(str(tmp_path))
    path = warehouse.rebuild_catalogue([])
    with duckdb.connect(str(path), read_only=True) as reader:
        store(warehouse, NEW, "backup")
        warehouse.rebuild_catalogue([NEW])
        assert reader.sql("SELECT count(*) FROM current_traces").fetchall() == [(0,)]
        assert rows(warehouse, "SELECT count(*) FROM current_traces") == [(1,)]


def _write_and_rebuild(root: str, number: int) -> None:
    warehouse = Warehouse(root)
    own = Cell("docs", f"own{number}@1", "v1@1")
    shared = Cell("docs", "shared@1", "v1@1")
    for turn in range(4):
        store(warehouse, own, *(f"case-{i}" for i in range(turn * 40 + 1)))
        store(warehouse, shared, *(f"case-{i}" for i in range(number * 300 + 1)))
        warehouse.append_run(replace(RUN, run_id=f"{number}-{turn}"))
        warehouse.rebuild_catalogue([own, shared])


def _read_repeatedly(root: str, stop: str) -> None:
    """Query while files are replaced, with one catalogue held open that reads what nothing replaces."""
    warehouse = Warehouse(root)
    with duckdb.connect(str(warehouse.catalogue_path), read_only=True) as connection:
        while not os.path.exists(stop):
            connection.execute("SELECT count(*) FROM runs").fetchall()
            for view in ("traces", "current_stage_scores", "runs"):
                warehouse.query(f"FROM {view}")


@pytest.mark.slow
def test_parallel_processes_write_rebuild_and_read_without_an_error(tmp_path: Path) -> None:
    root, stop = str(tmp_path / "w"), str(tmp_path / "stop")
    Warehouse(root).rebuild_catalogue([])
    spawn = multiprocessing.get_context("spawn")
    reader = spawn.Process(target=_read_repeatedly, args=(root, stop))
    writers = [spawn.Process(target=_write_and_rebuild, args=(root, number)) for number in range(2)]
    for process in (reader, *writers):
        process.start()
    for process in writers:
        process.join(60)
    Path(stop).touch()
    reader.join(60)
    assert [process.exitcode for process in (reader, *writers)] == [0, 0, 0]
    assert rows(Warehouse(root), "SELECT count(*) FROM runs") == [(8,)]
    assert rows(Warehouse(root), "SELECT count(DISTINCT candidate) FROM traces") == [(3,)]
    assert not list(tmp_path.rglob("*.tmp*"))


def test_storing_needs_no_heavy_import() -> None:
    heavy = "{'pandas', 'dagster', 'langchain_core', 'deepeval'}"
    code = f"import sys, eval_pipeline.warehouse.store; sys.exit(bool({heavy} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
