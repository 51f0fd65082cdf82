"""Reads a stored table a part at a time."""

from __future__ import annotations

import bisect
import contextlib
from collections.abc import Iterator, Sequence
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from eval_pipeline.errors import EvalError
from eval_pipeline.warehouse.arrow_schemas import conform
from eval_pipeline.windows import windows

_KEPT_GROUPS = 4
"""Row groups kept decoded: rows that are asked for lie close together, and each of some columns is one."""


class TableReader:
    """One stored table; it stays as it was when it was opened, whatever takes its place."""

    def __init__(
        self, source: str | BinaryIO, schema: pa.Schema, place: str, remedy: str = "delete it"
    ) -> None:
        """Open a file.

        Args:
            source: its local path, or what is in it.
            schema: the columns to give; those that an older file lacks are null.
            place: where it is.
            remedy: what to do when it cannot be read; all that reads it raises an EvalError then.

        Raises:
            EvalError: when it is no Parquet file.
        """
        self._place = place
        self._remedy = remedy
        # Without Arrow's thread pools: files this small gain nothing from them, and threads that outlive
        # the interpreter can abort the process as it ends.
        with self._told_when_broken():
            self._file = pq.ParquetFile(source, pre_buffer=False)
        self._schema = schema
        groups = (self._file.metadata.row_group(i).num_rows for i in range(self._file.num_row_groups))
        self._starts = [0]
        for rows in groups:
            self._starts.append(self._starts[-1] + rows)
        self._kept: dict[tuple[int, tuple[str, ...] | None], pa.Table] = {}

    @property
    def num_rows(self) -> int:
        """How many rows there are."""
        return self._starts[-1]

    @property
    def is_current(self) -> bool:
        """Whether the file has just the columns of the schema, not those of an older version."""
        found: bool = self._file.schema_arrow.remove_metadata().equals(self._schema)
        return found

    def read(self, columns: Sequence[str] | None = None) -> pa.Table:
        """All rows, in the columns of the schema or some of them."""
        wanted, there = self._columns(columns)
        with self._told_when_broken():
            return conform(self._file.read(there, use_threads=False), wanted)

    def parts(self, columns: Sequence[str] | None = None) -> Iterator[pa.Table]:
        """All rows, a window at a time."""
        for rows in windows(range(self.num_rows)):
            yield self.slice(rows[0], len(rows), columns)

    def tuples(self, *columns: str) -> Iterator[tuple[Any, ...]]:
        """Some columns of all rows, a tuple a row."""
        for part in self.parts(columns):
            yield from zip(*(part[name].to_pylist() for name in columns), strict=True)

    def slice(self, start: int, length: int, columns: Sequence[str] | None = None) -> pa.Table:
        """`length` rows from `start` on, or as many as there are."""
        stop = min(start + length, self.num_rows)
        parts = [self._empty(columns)]
        group = bisect.bisect_right(self._starts, start) - 1
        while start < stop:
            upto = min(stop, self._starts[group + 1])
            parts.append(self._group(group, columns).slice(start - self._starts[group], upto - start))
            start, group = upto, group + 1
        return pa.concat_tables(parts) if len(parts) != 2 else parts[1]

    def take(self, rows: Sequence[int], columns: Sequence[str] | None = None) -> pa.Table:
        """These rows, in this order."""
        if not rows:
            return self._empty(columns)
        if list(rows) == list(range(rows[0], rows[0] + len(rows))):
            return self.slice(rows[0], len(rows), columns)
        by_group: dict[int, list[int]] = {}
        for place, row in enumerate(rows):
            by_group.setdefault(bisect.bisect_right(self._starts, row) - 1, []).append(place)
        taken = [
            self._group(group, columns).take(
                pa.array([rows[i] - self._starts[group] for i in places], pa.int64())
            )
            for group, places in sorted(by_group.items())
        ]
        order = [place for _, places in sorted(by_group.items()) for place in places]
        whole = pa.concat_tables(taken)
        if order == list(range(len(order))):
            return whole
        return take_rows(whole, sorted(range(len(order)), key=order.__getitem__))

    def _group(self, number: int, columns: Sequence[str] | None) -> pa.Table:
        key = (number, None if columns is None else tuple(columns))
        if key not in self._kept:
            wanted, there = self._columns(columns)
            with self._told_when_broken():
                found = conform(self._file.read_row_group(number, there, use_threads=False), wanted)
            while len(self._kept) >= _KEPT_GROUPS:
                del self._kept[next(iter(self._kept))]
            self._kept[key] = found
        return self._kept[key]

    @contextlib.contextmanager
    def _told_when_broken(self) -> Iterator[None]:
        try:
            yield
        except (pa.ArrowException, OSError) as failure:
            raise EvalError(f"{self._place}: unreadable: {failure}; {self._remedy}") from failure

    def _columns(self, columns: Sequence[str] | None) -> tuple[pa.Schema, list[str]]:
        """The schema of some columns, and those of them that the file has."""
        wanted = self._schema if columns is None else pa.schema([self._schema.field(c) for c in columns])
        known = self._file.schema_arrow.names
        return wanted, [name for name in wanted.names if name in known]

    def _empty(self, columns: Sequence[str] | None) -> pa.Table:
        return self._columns(columns)[0].empty_table()


def take_rows(table: pa.Table, rows: Sequence[int]) -> pa.Table:
    """These rows of a table, in this order."""
    return table.take(pa.array(rows, pa.int64()))
