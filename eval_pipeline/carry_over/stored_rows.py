"""Finds the rows of earlier partitions whose inputs are those of rows wanted now."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import pyarrow as pa
from pydantic import TypeAdapter

from eval_pipeline.carry_over.inputs import Present
from eval_pipeline.carry_over.known_index import KnownIndex
from eval_pipeline.errors import EvalError, NotStoredError
from eval_pipeline.suites import key_name
from eval_pipeline.warehouse.row_inputs import used_lines
from eval_pipeline.warehouse.store import Keys, Warehouse
from eval_pipeline.warehouse.table_reader import take_rows
from eval_pipeline.warehouse.table_writer import shows_secret

MOST_PARTITIONS = 20
"""Partitions looked through: the cell's own, then the ones stored last."""
MOST_ROWS = 200_000
"""Rows after which no further partition is opened, once there are `LEAST_PARTITIONS`."""
LEAST_PARTITIONS = 3
SHARED_FILE = "shared_calls.json"
"""Beside a table: the digests of responses that many of its rows share, by id, under the hash of all."""

SharedCalls = Mapping[str, Mapping[str, str]]
_SHARED_CALLS: TypeAdapter[dict[str, dict[str, str]]] = TypeAdapter(dict[str, dict[str, str]])


@dataclass
class FoundRows:
    """Stored rows, several for one wanted hash where they belong together."""

    tables: list[pa.Table] = field(default_factory=list)
    places: dict[str, list[int]] = field(default_factory=dict)
    """Wanted hash to the rows of the tables, counted through all of them, in their order."""
    shared: dict[str, Mapping[str, str]] = field(default_factory=dict)
    """The shared responses that the rows rest on."""

    @property
    def count(self) -> int:
        """Rows in all tables."""
        return sum(table.num_rows for table in self.tables)


class RowFinder:
    """Finds the rows of one asset whose inputs are those wanted and still hold, for one part after the other.

    A partition is opened when it is first looked through, and stays as it was then.
    """

    def __init__(self, warehouse: Warehouse, asset: str, present: Present, own: Keys) -> None:
        """Nothing is read before the first search.

        Args:
            warehouse: where results are; fresh samples are no part of it.
            asset: `traces` or `stage_scores`.
            present: what the recordings and the dataset hold now.
            own: the cell's own keys, looked at first; traces are looked for under the same candidate's
                content.
        """
        self._present = present
        self._closed = (
            _Partition(warehouse, asset, keys) for keys in partitions_to_search(warehouse, asset, own)
        )
        self._open: list[_Partition] = []

    def find(self, wanted: Iterable[str | None]) -> FoundRows:
        """The stored rows with these hashes, all that they used being the same now; None is never found."""
        missing = {known for known in wanted if known is not None}
        found = FoundRows()
        for partition in self._partitions():
            if not missing:
                break
            places = partition.agreeing(missing, self._present)
            if not places:
                continue
            rows = partition.take([row for group in places.values() for row in group])
            if shows_secret(rows):  # stored before it was one
                continue
            start = found.count
            found.tables.append(rows)
            for known, group in places.items():
                found.places[known] = list(range(start, start + len(group)))
                start += len(group)
            found.shared |= partition.shared
            missing -= places.keys()
        return found

    def _partitions(self) -> Iterator[_Partition]:
        yield from self._open
        while self._may_open and (partition := next(self._closed, None)) is not None:
            self._open.append(partition)
            yield partition

    @property
    def _may_open(self) -> bool:
        rows = sum(partition.rows for partition in self._open)
        return len(self._open) < LEAST_PARTITIONS or rows < MOST_ROWS


class _Partition:
    """One stored table that may hold wanted rows; of a broken one, none."""

    def __init__(self, warehouse: Warehouse, asset: str, keys: Keys) -> None:
        self._place = (warehouse, asset, keys)
        try:
            table = warehouse.open(asset, **keys)
            self._index: KnownIndex | None = KnownIndex(table)
            self._table = table
            self.rows = table.num_rows
        except (EvalError, ValueError):  # broken or gone: whatever it held is made again
            self._index = None
            self.rows = 0

    @cached_property
    def shared(self) -> SharedCalls:
        """The shared responses that its rows rest on."""
        return read_shared(*self._place)

    def take(self, rows: Sequence[int]) -> pa.Table:
        """These rows."""
        return self._table.take(rows)

    def agreeing(self, missing: Collection[str], present: Present) -> dict[str, list[int]]:
        """The rows that are wanted and still hold, by hash, in the order of the table."""
        rows = [] if self._index is None else self._index.rows(list(missing))
        if not rows:
            return {}
        columns = self._table.take(rows, ("inputs_known", "inputs_used"))
        known, used = (columns[name].to_pylist() for name in ("inputs_known", "inputs_used"))
        groups: dict[str, list[int]] = {}
        for place, sha in enumerate(known):
            if sha in missing:
                groups.setdefault(sha, []).append(place)
        # What a row used stands in the first of those that belong together.
        return {
            sha: [rows[place] for place in group]
            for sha, group in groups.items()
            if used[group[0]] is not None and present.agrees(used_lines(used[group[0]]), self.shared)
        }


def partitions_to_search(
    warehouse: Warehouse, asset: str, own: Keys, most: int = MOST_PARTITIONS
) -> Iterator[Keys]:
    """The partitions that may hold such rows: the cell's own, those of its names, then those stored last."""
    candidate = own.get("candidate") or ""
    yield own
    stored = warehouse.partitions(asset, own["suite"])
    others = [keys for keys in stored if keys != own]
    if asset == "traces":  # the hash in a key is that of the candidate's content
        content = candidate.rpartition("@")[2]
        others = [keys for keys in others if (keys.get("candidate") or "").rpartition("@")[2] == content]
    # Those of the same names come first: among many candidates, the one before is not stored last.
    others.sort(key=lambda keys: [_names(keys)[i] != _names(own)[i] for i in range(2)])
    yield from others[: most - 1]


def _names(keys: Keys) -> list[str]:
    return [key_name(key) for key in (keys.get("candidate") or "", keys.get("dataset") or "")]


def read_shared(warehouse: Warehouse, asset: str, keys: Keys) -> SharedCalls:
    """What stands in a partition's file of shared responses; nothing where there is none."""
    try:
        return _SHARED_CALLS.validate_json(warehouse.read_text(asset, SHARED_FILE, **keys))
    except (NotStoredError, ValueError):
        return {}


def shared_used(table: pa.Table) -> set[str]:
    """The hashes of the shared responses that the rows of a table rest on."""
    lines = {line for text in table["inputs_used"].to_pylist() for line in used_lines(text)[-1:]}
    return {line.partition(" ")[2] for line in lines if line.startswith("shared ")}


def write_shared(
    warehouse: Warehouse, asset: str, shared: SharedCalls, used: Collection[str], keys: Keys
) -> None:
    """Store those of the shared responses that are used, beside the table that uses them."""
    needed = {sha: dict(calls) for sha, calls in shared.items() if sha in used}
    if needed:
        warehouse.write_text(asset, SHARED_FILE, json.dumps(needed, indent=1, sort_keys=True) + "\n", **keys)


def assemble(found: FoundRows, made: pa.Table, order: Sequence[Sequence[int]]) -> pa.Table:
    """One table of carried-over and new rows.

    Args:
        found: the carried-over rows.
        made: the new ones.
        order: places of rows, in the order wanted; those of new rows count on from the last found one.
    """
    whole = pa.concat_tables([*found.tables, made]) if found.tables else made
    places = [place for group in order for place in group]
    if places == list(range(whole.num_rows)):
        return whole
    return take_rows(whole, places)


def set_column(table: pa.Table, name: str, values: Any) -> pa.Table:
    """The table with another content in one of its columns."""
    index = table.schema.get_field_index(name)
    return table.set_column(index, table.schema.field(index), values)
