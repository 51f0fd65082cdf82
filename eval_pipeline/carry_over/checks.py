"""The `stage_scores` table of a cell: checks carried over, and a score for each of the others."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import pyarrow as pa

from eval_pipeline.carry_over.inputs import CheckInputs, Present, check_inputs
from eval_pipeline.carry_over.shared_counts import count_once
from eval_pipeline.carry_over.stored_rows import FoundRows, RowFinder, assemble, set_column
from eval_pipeline.carry_over.traces import Digests, cell_keys
from eval_pipeline.cases import Case
from eval_pipeline.content_hash import content_hash
from eval_pipeline.judge_runs import Task
from eval_pipeline.scores import Stage
from eval_pipeline.stages import Scored
from eval_pipeline.suites import Cell, Suite
from eval_pipeline.warehouse.score_rows import CheckKey, scores_table
from eval_pipeline.warehouse.store import Warehouse
from eval_pipeline.warehouse.stored_text import plain
from eval_pipeline.warehouse.table_reader import take_rows
from eval_pipeline.warehouse.trace_rows import traces_from, traces_table


@dataclass(frozen=True)
class Wanted:
    """A check that a cell is to have: one stage of one trace of a case that expects something of it."""

    row: int
    """The trace's row in its table."""
    case: Case
    stage: Stage
    repeat: int
    known: str | None
    """Hash of what is known before it is scored."""


@dataclass(frozen=True)
class CarriedChecks:
    """The checks that a cell is to have, and the stored ones that need not be made again."""

    wanted: Sequence[Wanted]
    found: FoundRows
    traces: pa.Table

    @property
    def others(self) -> list[Wanted]:
        """The checks to make."""
        return [check for check in self.wanted if check.known not in self.found.places]

    @property
    def answered(self) -> frozenset[str]:
        """The judged stages of which something is carried over that a judge has answered."""
        stages = {
            stage
            for table in self.found.tables
            for stage, used in zip(table["stage"].to_pylist(), table["inputs_used"].to_pylist(), strict=True)
            if used
        }
        return frozenset(stages)

    def tasks(self) -> list[Task]:
        """The checks to make, each with its trace."""
        others = self.others
        rows = sorted({check.row for check in others})
        traces = dict(zip(rows, traces_from(take_rows(self.traces, rows)), strict=True))
        return [Task(check.stage, check.case, traces[check.row]) for check in others]


class CheckCarrier:
    """Finds the stored checks of one cell's traces, for some of them after the others."""

    def __init__(
        self,
        warehouse: Warehouse,
        suite: Suite,
        cell: Cell,
        calibrated: frozenset[str],
        read_digests: Callable[[], Digests] | None,
    ) -> None:
        """Nothing is read before it is needed.

        Args:
            warehouse: where results are.
            suite: declares the cell.
            cell: which candidate on which dataset.
            calibrated: stages that gate if they gate `when_calibrated`.
            read_digests: digests of what is recorded now, by id; None to carry nothing over.
        """
        self.inputs = CheckInputs(suite, cell, calibrated)
        self._warehouse = warehouse
        self._suite = suite
        self._cell = cell
        self._read_digests = read_digests

    def carry(self, traces: pa.Table) -> CarriedChecks:
        """The checks of some rows of the cell's `traces` table, as far as they can be carried over."""
        if traces["content_hash"].null_count:  # stored by an older version
            traces = traces_table(traces_from(traces))
        wanted = list(_wanted(self._suite, self._cell, traces, self.inputs))
        found = FoundRows()
        if self._read_digests is not None and any(check.known for check in wanted):
            found = _as_carried(self._finder.find(check.known for check in wanted))
        return CarriedChecks(wanted, found, traces)

    @cached_property
    def _finder(self) -> RowFinder:
        present = Present(self._read_digests() if self._read_digests else {})
        return RowFinder(self._warehouse, "stage_scores", present, cell_keys(self._cell))


def join_checks(carried: CarriedChecks, made: Sequence[Scored]) -> pa.Table:
    """The `stage_scores` table of some traces, every call counted once.

    Args:
        carried: the checks carried over.
        made: the outcomes of `carried.tasks()`, in their order.
    """
    checks = [scored.check for scored in made if scored.check is not None]
    inputs = {
        (check.case.id, check.repeat, check.stage.name): check_inputs(check.known, scored.check, scored.calls)
        for check, scored in zip(carried.others, made, strict=True)
        if scored.check is not None
    }
    table = scores_table(checks, inputs)
    groups = _rows_by_check(table, carried.found.count)
    order = [
        carried.found.places[check.known]
        if check.known in carried.found.places
        else groups[check.case.id, check.repeat, check.stage.name]
        for check in carried.wanted
    ]
    return count_once(assemble(carried.found, table, order), _used_by(carried, made))


def _wanted(suite: Suite, cell: Cell, traces: pa.Table, inputs: CheckInputs) -> Iterator[Wanted]:
    dataset = suite.datasets[cell.dataset]
    names = ("repeat", "content_hash", "calls", "latency_ms", "cost")
    columns = zip(*(traces[name].to_pylist() for name in names), strict=True)
    places = [dataset.places[case_id] for case_id in traces["case_id"].to_pylist()]
    cases = dataset.cases_at(places)
    for row, (place, (repeat, *all_of_it)) in enumerate(zip(places, columns, strict=True)):
        case, case_sha = cases[place], dataset.case_shas[place]
        trace_sha = content_hash(plain(all_of_it))
        for stage in suite.stages:
            if stage.applies(case):
                yield Wanted(row, case, stage, repeat, inputs.known(stage, case_sha, trace_sha, repeat))


def _used_by(carried: CarriedChecks, made: Sequence[Scored]) -> Mapping[CheckKey, frozenset[str]]:
    """Ids of the calls that each new check used."""
    return {
        (check.case.id, check.repeat, check.stage.name): scored.used
        for check, scored in zip(carried.others, made, strict=True)
    }


def _rows_by_check(table: pa.Table, start: int) -> Mapping[CheckKey, list[int]]:
    """The rows of each check, counted from `start`."""
    columns = (table[name].to_pylist() for name in ("case_id", "repeat", "stage"))
    groups: dict[CheckKey, list[int]] = {}
    for place, check in enumerate(zip(*columns, strict=True), start=start):
        groups.setdefault(check, []).append(place)
    return groups


def _as_carried(found: FoundRows) -> FoundRows:
    """The rows as a replay of them would give them, marked as carried over."""
    for place, table in enumerate(found.tables):
        live = pa.array([None if calls is None else 0 for calls in table["calls"].to_pylist()], pa.int64())
        flags = pa.array([True] * table.num_rows, pa.bool_())
        found.tables[place] = set_column(set_column(table, "called", live), "carried_over", flags)
    return found
