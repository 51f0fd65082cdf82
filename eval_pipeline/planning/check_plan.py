"""Where the checks of a planned cell come from: of answers that are known, and of those that are not."""

from __future__ import annotations

from functools import cached_property

import pyarrow as pa

from eval_pipeline.calibration_results import read_records
from eval_pipeline.carry_over.checks import CheckCarrier
from eval_pipeline.carry_over.inputs import Present, check_inputs
from eval_pipeline.carry_over.reads import RunKey
from eval_pipeline.carry_over.traces import Digests
from eval_pipeline.cases import Run
from eval_pipeline.event_loop import run_async
from eval_pipeline.judge_runs import calibrated_by, try_tasks
from eval_pipeline.judges import JudgeCalls
from eval_pipeline.planning.check_reasons import StoredChecks
from eval_pipeline.planning.foreseen_calls import ForeseenCalls
from eval_pipeline.planning.planned_rows import PlannedAbove, RowsPlanned
from eval_pipeline.planning.reasons import miss_reason
from eval_pipeline.recordings import Recordings
from eval_pipeline.stages import Scored
from eval_pipeline.suites import Cell, Suite
from eval_pipeline.warehouse.store import Warehouse


class CheckPlanner:
    """Plans the checks of one cell; nothing is called, and nothing stored."""

    def __init__(
        self,
        warehouse: Warehouse,
        suite: Suite,
        cell: Cell,
        *,
        recordings: Recordings,
        digests: Digests,
        above: PlannedAbove,
        foreseen: ForeseenCalls,
    ) -> None:
        """Nothing is read before it is needed.

        Args:
            warehouse: where results are; fresh samples are no part of it.
            suite: declares the cell.
            cell: which candidate on which dataset.
            recordings: what answers the judge.
            digests: of all that is recorded, by id.
            above: what the cells planned before leave to take over.
            foreseen: where calls are added up.
        """
        self.rows = RowsPlanned()
        self.reasons: list[str] = []
        self._warehouse = warehouse
        self._suite = suite
        self._cell = cell
        self._recordings = recordings
        self._digests = digests
        self._above = above
        self._foreseen = foreseen

    def add_known(self, traces: pa.Table, carried_over: frozenset[RunKey]) -> None:
        """The checks of traces that are there.

        Args:
            traces: rows of the cell's `traces` table.
            carried_over: the runs whose trace is as it was; why a check is made again is said of these.
        """
        carried = self._carrier.carry(traces)
        tasks = carried.tasks()
        self.rows.carried_over += len(carried.wanted) - len(tasks)
        if not tasks:
            return
        judge = self._suite.judge_of(self._cell.candidate)
        asked = None if judge is None else JudgeCalls(judge, self._recordings)
        results = run_async(try_tasks(tasks, range(len(tasks)), asked, self._calibrated))
        stored = StoredChecks(self._warehouse, self._suite, self._cell)
        for place, (task, wanted) in enumerate(zip(tasks, carried.others, strict=True)):
            result = results[place]
            if not isinstance(result, Scored):
                if self._above.awaits(wanted.known and (wanted.known, result.call.entry_id)):
                    self.rows.planned_above += 1
                    self.rows.awaited += 1
                    continue
                why = miss_reason(result, self._suite, self._cell)
                self.reasons.append(f"{task.stage.name}: {why}")
                if self._foreseen.add_check(task.stage, (task.case.id, task.trace.repeat), result):
                    self.rows.called += 1
                else:
                    self.rows.open += 1
                continue
            calls = self._recordings.digests(result.used)
            inputs = None if result.check is None else check_inputs(wanted.known, result.check, calls)
            if self._above.makes(inputs, Present(self._digests)):
                self.rows.planned_above += 1
                continue
            self.rows.replayed += 1
            # Of a trace that is made again its own reason says enough.
            if (task.case.id, task.trace.repeat) in carried_over:
                self.reasons.append(f"{stored.why_again(task)} (no call)")

    def add_open(self, run: Run, trace: str | None) -> None:
        """The checks of a run whose answer is not there yet.

        Args:
            run: which one.
            trace: hash of what its trace will follow from, as far as that is known; None where its code
                cannot be told.
        """
        dataset = self._suite.datasets[self._cell.dataset]
        for stage in self._suite.stages:
            if not stage.applies(run.case):
                continue
            case_sha = dataset.case_shas[dataset.places[run.case.id]]
            known = trace and self._carrier.inputs.known(stage, case_sha, trace, run.repeat)
            if self._above.awaits(known):
                self.rows.planned_above += 1
                self.rows.awaited += 1
                continue
            self.rows.open += 1
            self._foreseen.add_open_check(stage, run)

    @cached_property
    def _calibrated(self) -> frozenset[str]:
        return calibrated_by(read_records(self._warehouse, self._suite, self._cell))

    @cached_property
    def _carrier(self) -> CheckCarrier:
        return CheckCarrier(self._warehouse, self._suite, self._cell, self._calibrated, lambda: self._digests)
