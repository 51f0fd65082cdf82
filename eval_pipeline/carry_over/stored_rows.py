"""Finds the rows of earlier partitions whose inputs are those of rows wanted now."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from eval_pipeline.carry_over.inputs import Present
from eval_pipeline.errors import EvalError, NotStoredError
from eval_pipeline.warehouse.row_inputs import used_lines
from eval_pipeline.warehouse.store import Keys, Warehouse

MOST_PARTITIONS = 20
"""Partitions looked through: the cell's own, then the ones stored last."""
SHARED_FILE = "shared_calls.json"
"""Beside a table: the digests of responses that many of its rows share, by id, under the hash of all."""

SharedCalls = Mapping[str, Mapping[str, str]]


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


def find_rows(
    warehouse: Warehouse, asset: str, wanted: Iterable[str | None], present: Present, own: Keys
) -> FoundRows:
    """The stored rows with the hashes wanted, all that they used being the same now.

    Args:
        warehouse: where results are; fresh samples are no part of it.
        asset: `traces` or `stage_scores`.
        wanted: what `inputs_known` is to be; None is never found.
        present: what the recordings and the dataset hold now.
        own: the cell's own keys, looked at first; a trace is looked for under the same candidate's content.
    """
    missing = {known for known in wanted if known is not None}
    found = FoundRows()
    for keys in partitions_to_search(warehouse, asset, own):
        if not missing:
            break
        places, shared = _agreeing(warehouse, asset, keys, missing, present)
        if not places:
            continue
        table = warehouse.read(asset, **keys)
        rows = [row for group in places.values() for row in group]
        if rows != list(range(table.num_rows)):
            table = take_rows(table, rows)
        start = found.count
        for known, group in places.items():
            found.places[known] = list(range(start, start + len(group)))
            start += len(group)
        found.tables.append(table)
        found.shared |= shared
        missing -= places.keys()
    return found


def _agreeing(
    warehouse: Warehouse, asset: str, keys: Keys, missing: set[str], present: Present
) -> tuple[dict[str, list[int]], SharedCalls]:
    """The rows of one partition that are wanted and still hold, by hash, in the order of the table."""
    try:
        columns = warehouse.read(asset, columns=("inputs_known", "inputs_used"), **keys)
    except EvalError:  # broken or gone: whatever it held is made again
        return {}, {}
    known, used = (columns[name].to_pylist() for name in ("inputs_known", "inputs_used"))
    groups: dict[str, list[int]] = {}
    for place, sha in enumerate(known):
        if sha in missing:
            groups.setdefault(sha, []).append(place)
    if not groups:
        return {}, {}
    shared = read_shared(warehouse, asset, keys)
    # What a row used stands in the first of those that belong together.
    kept = {
        sha: group
        for sha, group in groups.items()
        if used[group[0]] is not None and present.agrees(used_lines(used[group[0]]), shared)
    }
    return dict(sorted(kept.items(), key=lambda item: item[1])), shared


def partitions_to_search(warehouse: Warehouse, asset: str, own: Keys) -> Iterator[Keys]:
    """The partitions that may hold such rows: the cell's own, then those stored last."""
    candidate = own.get("candidate") or ""
    yield own
    stored = warehouse.partitions(asset, own["suite"])
    others = [keys for keys in stored if keys != own]
    if asset == "traces":  # the hash in a key is that of the candidate's content
        content = candidate.rpartition("@")[2]
        others = [keys for keys in others if (keys.get("candidate") or "").rpartition("@")[2] == content]
    yield from others[: MOST_PARTITIONS - 1]


def read_shared(warehouse: Warehouse, asset: str, keys: Keys) -> SharedCalls:
    """What stands in a partition's file of shared responses; nothing where there is none."""
    try:
        shared: SharedCalls = json.loads(warehouse.read_text(asset, SHARED_FILE, **keys))
    except (NotStoredError, ValueError):
        return {}
    return shared


def write_shared(warehouse: Warehouse, asset: str, shared: SharedCalls, table: pa.Table, keys: Keys) -> None:
    """Store the shared responses that the rows of a table rest on, beside it."""
    if not shared:
        return
    lines = {line for text in table["inputs_used"].to_pylist() for line in used_lines(text)[-1:]}
    needed = {sha: dict(calls) for sha, calls in shared.items() if f"shared {sha}" in lines}
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


def take_rows(table: pa.Table, rows: Sequence[int]) -> pa.Table:
    """These rows of a table, in this order."""
    return table.take(pa.array(rows, pa.int64()))


def set_column(table: pa.Table, name: str, values: Any) -> pa.Table:
    """The table with another content in one of its columns."""
    index = table.schema.get_field_index(name)
    return table.set_column(index, table.schema.field(index), values)
