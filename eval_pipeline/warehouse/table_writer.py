"""Stores a table a part at a time, and leaves alone a file that says the same already."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO

import pyarrow as pa
import pyarrow.parquet as pq

from eval_pipeline.errors import EvalError
from eval_pipeline.recordings.credentials import secrets_in, without_secrets
from eval_pipeline.warehouse.arrow_schemas import STORED_TABLES
from eval_pipeline.warehouse.storage import StoragePath, telling_where, writing
from eval_pipeline.warehouse.table_reader import TableReader


class TableWriter:
    """One table under way: its parts become row groups, from the first on that is not stored already."""

    def __init__(self, asset: str, path: StoragePath, open_file: Callable[[], IO[bytes]]) -> None:
        """`open_file` begins the file that is to take the place of the one at `path`."""
        self._asset = asset
        self._path = path
        self._open_file = open_file
        self._schema = STORED_TABLES[asset].schema
        self._stored = _comparable(path, self._schema)
        self._parquet: pq.ParquetWriter | None = None
        self._alike = 0
        """Rows given so far that are those stored; none of them is written yet."""

    def write(self, table: pa.Table) -> None:
        """Add rows.

        Raises:
            ValueError: when the table has other columns than the asset.
        """
        if table.schema != self._schema:
            raise ValueError(
                f"{self._asset}: the columns are\n{table.schema}\nand not those of arrow_schemas"
            )
        table = _without_secrets(table)
        if self._parquet is None and self._is_stored(table):
            self._alike += table.num_rows
            return
        with telling_where(self._path):
            self._begin().write_table(table)

    def finish(self) -> bool:
        """Write what is left; whether anything had to be written."""
        if self._parquet is None and self._stored is not None and self._alike == self._stored.num_rows:
            return False
        with telling_where(self._path):
            self._begin().close()
        return True

    def give_up(self) -> None:
        """Let go of the file under way, which nobody will see."""
        if self._parquet is not None:
            with contextlib.suppress(pa.ArrowException, OSError, ValueError):
                self._parquet.close()

    def _is_stored(self, table: pa.Table) -> bool:
        if self._stored is None:
            return False
        try:
            found: bool = self._stored.slice(self._alike, table.num_rows).equals(table)
        except EvalError:  # broken further down: it is replaced
            return False
        return found

    def _begin(self) -> pq.ParquetWriter:
        if self._parquet is None:
            self._parquet = pq.ParquetWriter(self._open_file(), self._schema, compression="zstd")
            if self._stored is not None and self._alike:
                for part in self._stored.parts():
                    self._parquet.write_table(part.slice(0, self._alike))
                    self._alike -= min(self._alike, part.num_rows)
                    if not self._alike:
                        break
        return self._parquet


@contextlib.contextmanager
def writing_table(asset: str, path: StoragePath) -> Iterator[TableWriter]:
    """Store an asset's table at `path`: readers see the old file or the new one, never a part.

    A local file that holds the same rows stays, and counts as stored just now.

    Raises:
        EvalError: when the place cannot be written.
    """
    with contextlib.ExitStack() as files:
        writer = TableWriter(asset, path, lambda: files.enter_context(writing(path)))
        try:
            yield writer
            if not writer.finish() and isinstance(path, Path):
                os.utime(path)
        except BaseException:
            writer.give_up()
            raise


def shows_secret(table: pa.Table) -> bool:
    """Whether any row of a table, or of what it was cut from, holds the value of a secret variable."""
    return secrets_in(
        buffer for column in table.columns for part in column.chunks for buffer in part.buffers()
    )


def _without_secrets(table: pa.Table) -> pa.Table:
    """The table as it is or, where a tool's output or a document shows a secret, with `***` for that."""
    if not shows_secret(table):
        return table
    return pa.Table.from_pylist(without_secrets(table.to_pylist()), schema=table.schema)


def _comparable(path: StoragePath, schema: pa.Schema) -> TableReader | None:
    """What is stored at a local path in just these columns."""
    if not isinstance(path, Path) or not path.exists():
        return None
    try:
        stored = TableReader(str(path), schema, str(path))
    except EvalError:
        return None
    return stored if stored.is_current else None
