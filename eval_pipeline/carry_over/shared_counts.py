"""Counts a judge's call that several stages of a trace share for the first of them alone."""

from __future__ import annotations

from collections.abc import Mapping, Set

import pyarrow as pa

from eval_pipeline.carry_over.stored_rows import set_column
from eval_pipeline.warehouse.row_inputs import used_lines
from eval_pipeline.warehouse.score_rows import CheckKey

_COUNTS = ("calls", "tokens", "cost")


def count_once(table: pa.Table, used_by: Mapping[CheckKey, Set[str]]) -> pa.Table:
    """The `stage_scores` table with every call counted once.

    Which stages share a call may change while a check stays: so this is decided over all of them, from what
    each took by itself.

    Args:
        table: all checks of a cell, in order.
        used_by: ids of the calls that a new check used; those of a stored one stand in its row.
    """
    if not any(table["own_calls"].to_pylist()):
        return table
    names = ("case_id", "repeat", "stage", "own_calls", "inputs_used")
    columns = zip(*(table[name].to_pylist() for name in names), strict=True)
    counted: set[tuple[str, int, str]] = set()
    shared: list[bool] = []
    for case_id, repeat, stage, own_calls, text in columns:
        used: Set[str] = frozenset()
        if own_calls:
            ids = used_by.get((case_id, repeat, stage))
            used = ids if ids is not None else {line.split(" ")[1] for line in used_lines(text)}
        calls = {(case_id, repeat, entry_id) for entry_id in used}
        shared.append(bool(calls) and calls <= counted)
        counted |= calls
    for name in _COUNTS:
        nothing = None if name == "cost" else 0
        own = table[f"own_{name}"].to_pylist()
        values = [nothing if zero else value for zero, value in zip(shared, own, strict=True)]
        table = set_column(table, name, pa.array(values, table.schema.field(name).type))
    live = [0 if zero else value for zero, value in zip(shared, table["called"].to_pylist(), strict=True)]
    return set_column(table, "called", pa.array(live, pa.int64()))
