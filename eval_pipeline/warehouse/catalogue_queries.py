"""SQL over the catalogue: read only, offline, and undisturbed by runs that store results meanwhile."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa

from eval_pipeline.errors import EvalError, NotStoredError

_ATTEMPTS = 3
_UNCHANGING = (duckdb.ParserException, duckdb.CatalogException, duckdb.BinderException)
"""What is wrong with the statement itself, and so with every attempt."""


def query_catalogue(path: Path, sql: str, filesystem: Any = None) -> pa.Table:
    """The rows that `sql` selects from the views at `path`; a statement without rows gives an empty table.

    Args:
        path: the DuckDB file.
        sql: one statement.
        filesystem: fsspec filesystem of the stored files when they are not local.

    Raises:
        NotStoredError: when the file does not exist.
        EvalError: with DuckDB's message, when the statement fails.
    """
    if not path.is_file():
        raise NotStoredError(f"{path}: no catalogue yet; run: eval-pipeline run SUITE")
    for _ in range(_ATTEMPTS):
        try:
            return _query(path, sql, filesystem)
        except _UNCHANGING as failure:
            raise EvalError(str(failure)) from failure
        except (duckdb.Error, OSError) as failure:
            # DuckDB opens a file once for its footer and again for its data. In between, another run may
            # have replaced it; then the next attempt finds the new one.
            last = failure
    raise EvalError(str(last)) from last


def _query(path: Path, sql: str, filesystem: Any) -> pa.Table:
    # Attached, not opened: DuckDB hands a process that still holds the replaced file that one again.
    with duckdb.connect() as connection:
        prepare(connection, filesystem)
        connection.execute(f"ATTACH {quote(str(path))} AS evals (READ_ONLY)")
        connection.execute("USE evals")
        relation = connection.sql(sql)
        return pa.table({}) if relation is None else relation.to_arrow_table()


def prepare(connection: duckdb.DuckDBPyConnection, filesystem: Any) -> None:
    """Make a connection work offline, in UTC, and on the store of the files."""
    connection.execute("SET autoinstall_known_extensions = false; SET TimeZone = 'UTC'")
    if filesystem is not None:
        connection.register_filesystem(filesystem)


def quote(text: str) -> str:
    """`text` as an SQL string."""
    return "'" + text.replace("'", "''") + "'"
