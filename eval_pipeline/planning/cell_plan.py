"""One cell's plan: everything that is not carried over is tried on replay, and what misses is counted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from eval_pipeline.agent_runs import Finished, try_runs, with_what_they_rest_on
from eval_pipeline.carry_over.reads import Reads, RunKey
from eval_pipeline.carry_over.reasons import StoredInputs
from eval_pipeline.carry_over.traces import CarriedTraces, TraceCarrier, join_traces, shared_of
from eval_pipeline.cases import Run
from eval_pipeline.comparing.earlier_prompt import earlier_prompt
from eval_pipeline.content_hash import content_hash
from eval_pipeline.errors import RecordingMiss, RecordingMisses
from eval_pipeline.event_loop import run_async
from eval_pipeline.models.connection import ProviderConnector
from eval_pipeline.models.run_calls import RunCalls
from eval_pipeline.planning.calibration_plan import CalibrationPlan, plan_calibration
from eval_pipeline.planning.check_plan import CheckPlanner
from eval_pipeline.planning.foreseen_calls import ForeseenCalls
from eval_pipeline.planning.planned_rows import PlannedAbove, RowsPlanned
from eval_pipeline.planning.reasons import group_reasons, miss_reason
from eval_pipeline.planning.typical_calls import CallEstimate, TypicalCalls
from eval_pipeline.recordings import Recordings, read_digests
from eval_pipeline.suites import Cell, Suite

if TYPE_CHECKING:
    from eval_pipeline.evaluation import Evaluation


@dataclass(frozen=True)
class CellPlan:
    """What a run of one cell will do."""

    cell: Cell
    traces: RowsPlanned
    checks: RowsPlanned
    trace_reasons: Mapping[str, int]
    """Why traces are made again, in words, with how many; most first."""
    check_reasons: Mapping[str, int]
    """Likewise of checks; not of those whose trace is made again."""
    calls: tuple[CallEstimate, ...]
    """Of the agent, its embedder and its judge."""
    pages: tuple[str, ...] = ()
    """What the pages will be recorded under that are embedded before anything can run."""
    with_others: bool = False
    """Whether it rests on calls or rows that were planned before it."""
    calibration: CalibrationPlan | None = None
    """What is missing of its judge's calibration; None where nothing is."""


class CellPlanner:
    """Plans one cell: nothing is called, and nothing stored."""

    def __init__(
        self,
        evaluation: Evaluation,
        suite: Suite,
        cell: Cell,
        typical: TypicalCalls,
        above: PlannedAbove | None = None,
    ) -> None:
        """Plan a cell that is run after others.

        Args:
            evaluation: where results are.
            suite: declares the cell.
            cell: which candidate on which dataset.
            typical: what such runs took so far.
            above: what the cells planned before leave to take over; this one adds to it.
        """
        self._suite = suite
        self._cell = cell
        self._typical = typical
        self._above = above or PlannedAbove()
        self._warehouse = evaluation.shared_warehouse
        self._digests = read_digests(suite.recordings)
        self._recordings = Recordings(
            suite.recordings, in_use=suite.in_use, before=lambda: earlier_prompt(self._warehouse, cell)
        )
        self._foreseen = ForeseenCalls(suite, cell, typical, self._above)
        self._reasons: list[str] = []
        self._misses: Mapping[RunKey, RecordingMiss] = {}
        self._pages: Sequence[RecordingMiss] = ()

    def plan(self) -> CellPlan:
        """What a run of the cell will do."""
        suite, cell = self._suite, self._cell
        checks = CheckPlanner(
            self._warehouse,
            suite,
            cell,
            recordings=self._recordings,
            digests=self._digests,
            above=self._above,
            foreseen=self._foreseen,
        )
        traces = self._plan_traces(checks)
        return CellPlan(
            cell,
            traces,
            checks.rows,
            group_reasons(self._reasons),
            group_reasons(checks.reasons),
            tuple(self._foreseen.estimates()),
            self._foreseen.pages,
            self._foreseen.waits_for_others or bool(traces.planned_above or checks.rows.planned_above),
            plan_calibration(self._warehouse, suite, cell, self._typical),
        )

    def _plan_traces(self, checks: CheckPlanner) -> RowsPlanned:
        """Where the traces come from; their checks are planned with them."""
        runs = self._suite.datasets[self._cell.dataset].runs
        carrier = TraceCarrier(self._warehouse, self._suite, self._cell, lambda: self._digests)
        carried = carrier.carry(runs)
        others = [run for run in runs if run not in carried]
        rows = RowsPlanned(carried_over=len(runs) - len(others))
        made = self._try_runs(others) if others else {}
        self._plan_made(others, made, carried, rows)
        self._plan_missed([run for run in others if run.key not in made], carried.known, rows, checks)
        known = [run for run in runs if run in carried or run.key in made]
        table = join_traces(known, carried, [made[run.key] for run in known if run.key in made])
        checks.add_known(table, frozenset(run.key for run in known if run in carried))
        return rows

    def _try_runs(self, runs: Sequence[Run]) -> dict[RunKey, Finished]:
        """What the runs do that the recordings answer; of the others, the first call that they miss."""
        reads = Reads()
        trying = try_runs(
            self._suite, self._cell, runs, self._recordings, ProviderConnector(), RunCalls(), reads
        )
        try:
            results = run_async(trying)
        except RecordingMisses as missing:  # pages to embed, before anything can run
            self._pages = missing.misses
            return {}
        by_run = {run.key: result for run, result in zip(runs, results, strict=True)}
        self._misses = {key: miss for key, miss in by_run.items() if isinstance(miss, RecordingMiss)}
        made = {key: result for key, result in by_run.items() if isinstance(result, Finished)}
        return with_what_they_rest_on(made, self._recordings, reads)

    def _plan_made(
        self, runs: Sequence[Run], made: Mapping[RunKey, Finished], carried: CarriedTraces, rows: RowsPlanned
    ) -> None:
        """Count the runs that need no call, each with why it is made again."""
        if not made:
            return
        present = carried.inputs.present(self._digests)
        stored = StoredInputs(self._warehouse, self._cell, carried, present)
        shared = shared_of(carried, list(made.values()))
        for run in runs:
            if (finished := made.get(run.key)) is None:
                continue
            if self._above.makes(carried.inputs.of(run, finished), present, shared):
                rows.planned_above += 1
                continue
            rows.replayed += 1
            self._reasons.append(f"{stored.why_again(run)} (no call)")

    def _plan_missed(
        self,
        runs: Sequence[Run],
        known: Mapping[RunKey, str | None],
        rows: RowsPlanned,
        checks: CheckPlanner,
    ) -> None:
        """Count the runs whose answers are not there yet, with what is missing."""
        new: list[Run] = []
        for run in runs:
            awaited = self._awaited(run, known[run.key])
            if self._above.awaits(awaited):
                rows.planned_above += 1
                rows.awaited += 1
            else:
                new.append(run)
            checks.add_open(run, awaited)
        if self._pages:
            rows.open += len(new)
            self._foreseen.add_pages(self._pages, new)
            self._reasons += [
                miss_reason(page, self._suite, self._cell)
                for page in self._pages
                if page.call.entry_id in self._foreseen.pages
            ]
            if not self._foreseen.pages:
                self._reasons += ["pages are to be embedded, as planned above"] * len(new)
            return
        for run in new:
            self._reasons.append(miss_reason(self._misses[run.key], self._suite, self._cell))
            if self._foreseen.add_run(run, self._misses[run.key]):
                rows.called += 1
            else:
                rows.open += 1

    def _awaited(self, run: Run, known: str | None) -> str | None:
        """Hash of what the trace of a run follows from, as far as its answers are not needed for it."""
        if known is None:
            return None
        dataset = self._suite.datasets[self._cell.dataset]
        missed = None if self._pages else self._misses[run.key].call.entry_id
        return content_hash([known, dataset.docs_sha, dataset.fixtures_sha, missed])
