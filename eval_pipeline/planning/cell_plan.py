"""One cell's plan: everything that is not carried over is tried on replay, and what misses is counted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from eval_pipeline.agent_runs import Finished, try_runs
from eval_pipeline.calibration_results import read_records
from eval_pipeline.carry_over.checks import CheckCarrier
from eval_pipeline.carry_over.reads import Reads
from eval_pipeline.carry_over.reasons import StoredInputs
from eval_pipeline.carry_over.traces import CarriedTraces, TraceCarrier, join_traces
from eval_pipeline.cases import Run
from eval_pipeline.errors import RecordingMisses
from eval_pipeline.event_loop import run_async
from eval_pipeline.judge_runs import calibrated_by, try_tasks
from eval_pipeline.judges import JudgeCalls
from eval_pipeline.models.connection import ProviderConnector
from eval_pipeline.models.run_calls import RunCalls
from eval_pipeline.planning.calibration_plan import CalibrationPlan, plan_calibration
from eval_pipeline.planning.check_reasons import StoredChecks
from eval_pipeline.planning.foreseen_calls import ForeseenCalls
from eval_pipeline.planning.reasons import group_reasons, miss_reason
from eval_pipeline.planning.typical_calls import CallEstimate, TypicalCalls
from eval_pipeline.recordings import Recordings, read_digests
from eval_pipeline.stages import Scored
from eval_pipeline.suites import Cell, Suite

if TYPE_CHECKING:
    from eval_pipeline.evaluation import Evaluation


@dataclass(frozen=True)
class RowsPlanned:
    """Where the rows of one table will come from."""

    carried_over: int = 0
    replayed: int = 0
    called: int = 0
    open: int = 0
    """Rows that rest on answers which are not there yet."""


@dataclass(frozen=True)
class CellPlan:
    """What a run of one cell will do."""

    cell: Cell
    traces: RowsPlanned
    checks: RowsPlanned
    reasons: Mapping[str, int]
    """Why rows are made again, in words, with how many; most first."""
    calls: tuple[CallEstimate, ...]
    """Of the agent, its embedder and its judge."""
    pages: tuple[str, ...] = ()
    """What the pages will be recorded under that are embedded before anything can run."""
    calibration: CalibrationPlan | None = None
    """What is missing of its judge's calibration; None where nothing is."""


class CellPlanner:
    """Plans one cell: nothing is called, and nothing stored."""

    def __init__(self, evaluation: Evaluation, suite: Suite, cell: Cell, typical: TypicalCalls) -> None:
        """`typical` says what such runs took so far."""
        self._evaluation = evaluation
        self._suite = suite
        self._cell = cell
        self._typical = typical
        self._digests = read_digests(suite.recordings)
        self._recordings = Recordings(suite.recordings)
        self._foreseen = ForeseenCalls(suite, cell, typical)
        self._reasons: list[str] = []

    def plan(self) -> CellPlan:
        """What a run of the cell will do."""
        runs = self._suite.datasets[self._cell.dataset].runs
        carrier = TraceCarrier(self._evaluation.warehouse, self._suite, self._cell, lambda: self._digests)
        carried = carrier.carry(runs)
        others = [run for run in runs if run not in carried]
        made = self._try_runs(others, carried)
        known = [run for run in runs if run in carried or run.key in made]
        checks = self._try_checks(known, carried, [made[run.key] for run in known if run.key in made])
        missed = [run for run in others if run.key not in made]
        for run in missed:
            for stage in self._suite.stages:
                if stage.applies(run.case):
                    checks = replace(checks, open=checks.open + 1)
                    self._foreseen.add_open_check(stage, run)
        traces = RowsPlanned(len(runs) - len(others), len(made), len(missed))
        if self._foreseen.pages:
            traces = replace(traces, called=0, open=len(missed))
        return CellPlan(
            self._cell,
            traces,
            checks,
            group_reasons(self._reasons),
            tuple(self._foreseen.estimates()),
            self._foreseen.pages,
            plan_calibration(self._evaluation.shared_warehouse, self._suite, self._cell, self._typical),
        )

    def _try_runs(self, runs: Sequence[Run], carried: CarriedTraces) -> dict[tuple[str, int], Finished]:
        """What the runs do that the recordings answer."""
        if not runs:
            return {}
        present = carried.inputs.present(self._digests)
        stored = StoredInputs(self._evaluation.warehouse, self._cell, carried, present)
        try:
            results = run_async(
                try_runs(
                    self._suite,
                    self._cell,
                    runs,
                    self._recordings,
                    ProviderConnector(),
                    RunCalls(),
                    Reads(),
                )
            )
        except RecordingMisses as missing:  # pages to embed, before anything can run
            self._foreseen.add_pages(missing.misses, runs)
            self._reasons += [miss_reason(miss, self._suite, self._cell) for miss in missing.misses]
            return {}
        made: dict[tuple[str, int], Finished] = {}
        for run, result in zip(runs, results, strict=True):
            if isinstance(result, Finished):
                made[run.key] = result
                self._reasons.append(f"{stored.why_again(run)} (no call)")
                continue
            self._reasons.append(miss_reason(result, self._suite, self._cell))
            self._foreseen.add_run(run, result)
        return made

    def _try_checks(
        self, runs: Sequence[Run], carried: CarriedTraces, made: Sequence[Finished]
    ) -> RowsPlanned:
        """Where the checks of these runs come from."""
        if not runs:
            return RowsPlanned()
        suite, cell = self._suite, self._cell
        records = read_records(self._evaluation.shared_warehouse, suite, cell)
        calibrated = calibrated_by(records)
        table = join_traces(runs, carried, made)
        warehouse = self._evaluation.warehouse
        checks = CheckCarrier(warehouse, suite, cell, calibrated, lambda: self._digests).carry(table)
        tasks = checks.tasks()
        judge = suite.judge_of(cell.candidate)
        asked = None if judge is None else JudgeCalls(judge, self._recordings)
        results = run_async(try_tasks(tasks, range(len(tasks)), asked, calibrated))
        missed = 0
        stored = StoredChecks(self._evaluation.warehouse, suite, cell) if tasks else None
        carried_over = {run.key for run in runs if run in carried}
        for place, task in enumerate(tasks):
            result = results[place]
            if isinstance(result, Scored):
                # Of a trace that is made again its own reason says enough.
                if stored is not None and (task.case.id, task.trace.repeat) in carried_over:
                    self._reasons.append(f"{stored.why_again(task)} (no call)")
                continue
            missed += 1
            self._reasons.append(f"{task.stage.name}: {miss_reason(result, suite, cell)}")
            self._foreseen.add_check(task.stage, task.case.id, result)
        return RowsPlanned(len(checks.wanted) - len(tasks), len(tasks) - missed, missed)
