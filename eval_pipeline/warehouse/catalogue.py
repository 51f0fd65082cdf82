"""The catalogue: a DuckDB file of views over the stored Parquet files, holding no data of its own.

One DuckDB file has one writer, whose lock shuts readers out. So the file is built beside and swapped: readers
and parallel runs never wait for each other. The views take suite, dataset and candidate from the end of each
file's path and not from DuckDB's hive columns, which a warehouse below `/data/suite=old/` would confuse;
filters on them still read only the files that match.
"""

from __future__ import annotations

import fcntl
import re
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from eval_pipeline.errors import EvalError
from eval_pipeline.suites import Cell
from eval_pipeline.warehouse.arrow_schemas import RUNS, STORED_TABLES
from eval_pipeline.warehouse.catalogue_queries import prepare, quote
from eval_pipeline.warehouse.storage import write_whole

CURRENT = ("traces", "stage_scores", "stage_report", "gate_decision", "calibration")
"""The assets whose `current_*` views show only what the checkout declares."""

CASE_REPEATS = """
CREATE VIEW {prefix}case_repeats AS
SELECT suite, dataset, candidate, case_id, count(*) AS runs,
    count(*) FILTER (
        outcome IN ('passed', 'failed') OR (outcome = 'error' AND first_failure_source = 'system')
    ) AS measured,
    count(*) FILTER (outcome = 'passed') AS passed,
    passed > 0 AND passed < measured AS flaky
FROM {prefix}stage_report GROUP BY suite, dataset, candidate, case_id
"""
"""How many runs of a case passed, and whether they disagree; of samples over all nights together."""


@dataclass(frozen=True)
class Declared:
    """What a checkout declares: the keys that the `current_*` views show."""

    cells: tuple[Cell, ...] = ()
    judges: frozenset[tuple[str, str]] = frozenset()
    """Suite and calibration key of each."""

    def keys_of(self, asset: str) -> frozenset[tuple[str, ...]]:
        """The keys of an asset's stored files, as their paths hold them."""
        if asset == "calibration":
            return frozenset(self.judges)
        return frozenset((cell.suite, cell.dataset, cell.candidate) for cell in self.cells)


def write_catalogue(path: Path, root: str, declared: Declared, filesystem: Any = None) -> None:
    """Build the views and put them at `path` in one step.

    Args:
        path: the local DuckDB file.
        root: absolute folder, or URL, below which the Parquet files are.
        declared: what the `current_*` views show.
        filesystem: fsspec filesystem of the root when that is a URL.

    Raises:
        EvalError: when the file cannot be written.
    """
    # One at a time: else a build that found no file yet could replace one that saw the first.
    with _locked(path.with_name(f".{path.name}.lock")):
        for leftover in path.parent.glob(f"{path.name}.*.tmp"):
            leftover.unlink(missing_ok=True)
        write_whole(path, _build(root, declared, filesystem))


def _build(root: str, declared: Declared, filesystem: Any) -> bytes:
    """The content of a DuckDB file with the views, built where its path holds nothing DuckDB trips over."""
    with tempfile.TemporaryDirectory(prefix="evals-") as folder:
        file = Path(folder, "evals.duckdb")
        with duckdb.connect(str(file)) as connection:
            prepare(connection, filesystem)
            for view in _views(root):
                _create(connection, view, declared)
            for prefix in ("", "current_", "sample_"):
                connection.execute(CASE_REPEATS.format(prefix=prefix))
        return file.read_bytes()


@dataclass(frozen=True)
class _View:
    """One view: a name, the files it shows, and the keys their paths hold."""

    name: str
    schema: pa.Schema
    found: str
    """Glob of the files."""
    keys: tuple[str, ...]
    pattern: str
    """Regular expression of the paths, with a group for each key."""


def _views(root: str) -> Iterator[_View]:
    base = _escape_glob(root.rstrip("/"))
    for name, stored in STORED_TABLES.items():
        folders = f"{name}{''.join(f'/{key}=*' for key in stored.keys)}/part.parquet"
        pattern = f"/{name}{''.join(f'/{key}=([^/]*)' for key in stored.keys)}/part.parquet$"
        yield _View(name, stored.schema, f"{base}/{folders}", stored.keys, pattern)
        sampled = f"{base}/samples/*/{folders}"
        yield _View(f"sample_{name}", stored.schema, sampled, ("sample", *stored.keys), f"/([^/]*){pattern}")
    yield _View("runs", RUNS, f"{base}/runs/*.parquet", (), "")
    sampled = f"{base}/samples/*/runs/*.parquet"
    yield _View("sample_runs", RUNS, sampled, ("sample",), "/([^/]*)/runs/[^/]*$")


def _create(connection: duckdb.DuckDBPyConnection, view: _View, declared: Declared) -> None:
    files = [file for (file,) in connection.execute("SELECT file FROM glob(?)", [view.found]).fetchall()]
    connection.execute(_statement(connection, view, [view.found] if files else []))
    if view.name in CURRENT:
        keys = declared.keys_of(view.name)
        current = [file for file in files if (at := re.search(view.pattern, file)) and at.groups() in keys]
        view = replace(view, name=f"current_{view.name}")
        connection.execute(_statement(connection, view, [_escape_glob(file) for file in current]))


def _statement(connection: duckdb.DuckDBPyConnection, view: _View, globs: Sequence[str]) -> str:
    """The statement that creates a view of the files that match; of none, an empty one of the same columns.

    The schema is given: columns that files of an older version lack are null. (`union_by_name` would do that
    too, but it always reads every file's footer, long before the data.)
    """
    kinds = map(str, connection.from_arrow(view.schema.empty_table()).types)
    types = dict(zip(view.schema.names, kinds, strict=True))
    columns = [
        f'regexp_extract(filename, {quote(view.pattern)}, {group}) AS "{key}"'
        for group, key in enumerate(view.keys, start=1)
    ]
    columns += [f'"{column}"' for column in types]
    if globs:
        fields = ", ".join(
            f"'{column}': {{name: '{column}', type: {quote(kind)}, default_value: NULL}}"
            for column, kind in types.items()
        )
        source = (
            f"read_parquet([{', '.join(map(quote, globs))}], schema = MAP {{{fields}}}, "
            "filename = true, hive_partitioning = false)"
        )
    else:
        typed = ", ".join(f'NULL::{kind} AS "{column}"' for column, kind in types.items())
        source = f"(SELECT {typed}, NULL::VARCHAR AS filename WHERE false)"
    return f'CREATE VIEW "{view.name}" AS SELECT {", ".join(columns)} FROM {source}'


def _escape_glob(path: str) -> str:
    return re.sub(r"([\[*?])", r"[\1]", path)


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.open("w")
    except OSError as failure:
        raise EvalError(
            f"{path}: cannot be written: {failure.strerror}; EVAL_WAREHOUSE names another place"
        ) from failure
    with file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
