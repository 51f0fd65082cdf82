"""The `traces` table of a cell: rows carried over, and a run for each of the others."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from eval_pipeline.agent_runs import Finished
from eval_pipeline.carry_over.inputs import TraceInputs, shared_sha
from eval_pipeline.carry_over.stored_rows import (
    FoundRows,
    assemble,
    find_rows,
    set_column,
    write_shared,
)
from eval_pipeline.cases import Run
from eval_pipeline.suites import Cell, Suite
from eval_pipeline.warehouse.store import Keys, Warehouse
from eval_pipeline.warehouse.trace_rows import traces_table

Digests = Mapping[str, str]


@dataclass(frozen=True)
class CarriedTraces:
    """The stored rows that some of a cell's runs need not make again."""

    inputs: TraceInputs
    found: FoundRows
    known: Mapping[tuple[str, int], str | None]
    """By run: hash of what is known before it."""

    def __contains__(self, run: Run) -> bool:
        """Whether a run's row is carried over."""
        return self.known[run.key] in self.found.places


def carry_traces(
    warehouse: Warehouse, suite: Suite, cell: Cell, read_digests: Callable[[], Digests] | None
) -> CarriedTraces:
    """The rows that can be carried over.

    Args:
        warehouse: where results are.
        suite: declares the cell.
        cell: which candidate on which dataset.
        read_digests: digests of what is recorded now, by id; None to carry nothing over.
    """
    inputs = TraceInputs(suite, cell)
    known = {run.key: inputs.known(run) for run in suite.datasets[cell.dataset].runs}
    if read_digests is None or all(sha is None for sha in known.values()):
        return CarriedTraces(inputs, FoundRows(), known)
    present = inputs.present(read_digests())
    found = find_rows(warehouse, "traces", known.values(), present, cell_keys(cell))
    return CarriedTraces(inputs, _as_carried(found), known)


def write_traces(
    warehouse: Warehouse, cell: Cell, runs: Sequence[Run], carried: CarriedTraces, made: Sequence[Finished]
) -> pa.Table:
    """Store the whole table, and give it back.

    Args:
        warehouse: where results go.
        cell: which candidate on which dataset.
        runs: all of the cell's runs, in their order.
        carried: the rows carried over.
        made: what the other runs did, in the same order.
    """
    whole = join_traces(runs, carried, made)
    shared = dict(carried.found.shared)
    for finished in made:
        calls = finished.rests_on.shared_calls
        if calls and calls not in shared.values():
            shared[shared_sha(calls)] = calls
    keys = cell_keys(cell)
    write_shared(warehouse, "traces", shared, whole, keys)
    warehouse.write("traces", whole, **keys)
    return whole


def join_traces(runs: Sequence[Run], carried: CarriedTraces, made: Sequence[Finished]) -> pa.Table:
    """The table of these runs: a carried-over row, or a new one, for each."""
    others = [run for run in runs if run not in carried]
    inputs = {run.key: carried.inputs.of(run, finished) for run, finished in zip(others, made, strict=True)}
    table = traces_table([finished.trace for finished in made], inputs)
    start = carried.found.count
    new = {run.key: start + i for i, run in enumerate(others)}
    places = carried.found.places
    order = [places[carried.known[run.key] or ""] if run in carried else [new[run.key]] for run in runs]
    return assemble(carried.found, table, order)


def cell_keys(cell: Cell) -> Keys:
    """What a cell's tables are stored under."""
    return {"suite": cell.suite, "dataset": cell.dataset, "candidate": cell.candidate}


def _as_carried(found: FoundRows) -> FoundRows:
    """The rows as a replay of them would give them, marked as carried over."""
    found.tables = [
        set_column(
            set_column(
                set_column(table, "called", pa.array([0] * table.num_rows, pa.int64())),
                "replayed",
                table["calls"],
            ),
            "carried_over",
            pa.array([True] * table.num_rows, pa.bool_()),
        )
        for table in found.tables
    ]
    return found
