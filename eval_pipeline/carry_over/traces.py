"""The `traces` table of a cell: rows carried over, and a run for each of the others."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import pyarrow as pa

from eval_pipeline.agent_runs import Finished
from eval_pipeline.carry_over.inputs import TraceInputs, shared_sha
from eval_pipeline.carry_over.stored_rows import (
    FoundRows,
    RowFinder,
    assemble,
    set_column,
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


class TraceCarrier:
    """Finds the stored rows of one cell's runs, for some of them after the others."""

    def __init__(
        self, warehouse: Warehouse, suite: Suite, cell: Cell, read_digests: Callable[[], Digests] | None
    ) -> None:
        """Nothing is read before it is needed.

        Args:
            warehouse: where results are.
            suite: declares the cell.
            cell: which candidate on which dataset.
            read_digests: digests of what is recorded now, by id; None to carry nothing over.
        """
        self.inputs = TraceInputs(suite, cell)
        self._warehouse = warehouse
        self._cell = cell
        self._read_digests = read_digests

    def carry(self, runs: Sequence[Run]) -> CarriedTraces:
        """The rows of these runs that can be carried over."""
        known = {run.key: self.inputs.known(run) for run in runs}
        if self._read_digests is None or all(sha is None for sha in known.values()):
            return CarriedTraces(self.inputs, FoundRows(), known)
        return CarriedTraces(self.inputs, _as_carried(self._finder.find(known.values())), known)

    @cached_property
    def _finder(self) -> RowFinder:
        present = self.inputs.present(self._read_digests() if self._read_digests else {})
        return RowFinder(self._warehouse, "traces", present, cell_keys(self._cell))


def shared_of(carried: CarriedTraces, made: Sequence[Finished]) -> dict[str, Mapping[str, str]]:
    """The shared responses that rows carried over and made rest on, by the hash of all."""
    shared = dict(carried.found.shared)
    for finished in made:
        calls = finished.rests_on.shared_calls
        if calls and calls not in shared.values():
            shared[shared_sha(calls)] = calls
    return shared


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
