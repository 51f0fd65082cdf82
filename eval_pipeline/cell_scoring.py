"""Scores a cell's traces, some after the others, and settles what no judge's recording answers."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from eval_pipeline.agent_runs import Progress, record_command
from eval_pipeline.errors import RecordingMiss, RecordingMisses
from eval_pipeline.gating.outcomes import JudgeRecord
from eval_pipeline.judge_runs import Task, TaskResult, calibrated_by, run_tasks
from eval_pipeline.models.connection import Connector
from eval_pipeline.models.run_calls import RunCalls
from eval_pipeline.recordings import Recordings
from eval_pipeline.scores import CheckResult
from eval_pipeline.shards import CheckPlace
from eval_pipeline.stages import Scored, gates
from eval_pipeline.suites import Cell, Suite
from eval_pipeline.traces import AgentTrace

_OF_THE_JUDGE = ("judge template", "rubric", "parameters", "weights")
"""Parts of a request that only the judge's own declaration and templates decide."""


def score_cell(
    suite: Suite,
    cell: Cell,
    traces: Sequence[AgentTrace],
    open_recordings: Callable[[], Recordings],
    *,
    connector: Connector | None = None,
    calls: RunCalls | None = None,
    records: Mapping[str, JudgeRecord] | None = None,
    on_progress: Progress = lambda done, total: None,
) -> list[CheckResult]:
    """The outcomes of a cell: trace by trace, stage by stage, only for the stages that apply.

    Args:
        suite: the suite that declares the cell.
        cell: which candidate on which dataset.
        traces: what the system did.
        open_recordings: opens the recordings anew; called again when another process recorded first.
        connector: makes the live clients; only asked on a live call.
        calls: the live calls of the evaluation that this is a part of.
        records: the judge's record by stage: a stage that gates `when_calibrated` does so with a good one.
        on_progress: told after every judged check.

    Raises:
        RecordingMisses: on replay, when a judge is recorded in part; of one that is not recorded at all for
            these answers, the checks are `not_measured`.
    """
    dataset = suite.datasets[cell.dataset]
    tasks = [Task(stage, dataset.case(trace.case_id), trace) for trace in traces for stage in suite.stages]
    scoring = CellScoring(
        suite,
        cell,
        open_recordings,
        connector=connector,
        calls=calls or RunCalls(),
        calibrated=calibrated_by(records or {}),
        on_progress=on_progress,
    )
    scored = scoring.score(tasks)
    scoring.finish()
    counted: set[tuple[str, int, str]] = set()
    return [
        _count_once(found, task.trace, counted)
        for task, found in zip(tasks, scored, strict=True)
        if found.check is not None
    ]


@dataclass
class _Recorded:
    """What says that a stage's judge is recorded, so that what is missed is missing."""

    answered: bool = False
    asked_otherwise: bool = False
    """Whether the judge was recorded with another template, rubric or settings."""


class CellScoring:
    """Scores the checks of one cell, some after the others; `finish` says whether they can be kept."""

    def __init__(
        self,
        suite: Suite,
        cell: Cell,
        open_recordings: Callable[[], Recordings],
        *,
        connector: Connector | None,
        calls: RunCalls,
        calibrated: Collection[str] = (),
        scored: Mapping[CheckPlace, TaskResult] | None = None,
        on_progress: Progress = lambda done, total: None,
    ) -> None:
        """Nothing is scored yet.

        Args:
            suite: the suite that declares the cell.
            cell: which candidate on which dataset.
            open_recordings: opens the recordings anew; called again when another process recorded first.
            connector: makes the live clients; only asked on a live call.
            calls: the live calls of the run.
            calibrated: stages that gate if they gate `when_calibrated`.
            scored: what shards have scored already.
            on_progress: told after every judged check.
        """
        self._suite = suite
        self._cell = cell
        self._open_recordings = open_recordings
        self._connector = connector
        self._calls = calls
        self._calibrated = frozenset(calibrated)
        self._scored = scored or {}
        self._on_progress = on_progress
        self._made_ahead = set(calls.made_ahead)
        self._stages: dict[str, _Recorded] = defaultdict(_Recorded)
        self._misses: list[tuple[str, RecordingMiss]] = []
        """Stage and miss, in the order of the tasks."""

    def note_answered(self, stages: Collection[str]) -> None:
        """Stages whose judge is recorded for other answers of the cell, which are no tasks here."""
        for name in stages:
            self._stages[name].answered = True

    def score(self, tasks: Sequence[Task]) -> list[Scored]:
        """The outcome of each task, with what it used; calls that several share are counted for each.

        What no recording answers is not measured, as far as `finish` does not say otherwise.
        """
        rest = [task for task in tasks if task.place not in self._scored]
        made = iter(
            run_tasks(
                self._suite,
                self._cell,
                rest,
                self._open_recordings,
                connector=self._connector,
                calls=self._calls,
                calibrated=self._calibrated,
                on_progress=self._on_progress,
            )
        )
        results = [self._scored[task.place] if task.place in self._scored else next(made) for task in tasks]
        return [self._settle(task, result) for task, result in zip(tasks, results, strict=True)]

    def finish(self) -> None:
        """Look at all that was missed.

        Raises:
            RecordingMisses: for a stage whose judge is recorded in part; of one that is not recorded at all
                for these answers, the checks are `not_measured`.
        """
        partly = {name for name, found in self._stages.items() if found.answered or found.asked_otherwise}
        if misses := [miss for name, miss in self._misses if name in partly]:
            raise RecordingMisses(misses, record_command(self._suite, self._cell))

    def _settle(self, task: Task, result: TaskResult) -> Scored:
        stage = self._stages[task.stage.name]
        if isinstance(result, Scored):
            stage.answered |= bool(result.used)
            return self._count_made_ahead(result)
        # Of another model, or of nothing at all, nothing has changed.
        if not result.why.startswith(("model changed", "nothing recorded")):
            stage.asked_otherwise |= any(part in result.why for part in _OF_THE_JUDGE)
        # Without the frames that it went through, which hold the whole trace.
        self._misses.append((task.stage.name, result.with_traceback(None)))
        return Scored(self._not_measured(task))

    def _count_made_ahead(self, result: Scored) -> Scored:
        """The result, with the calls that this run made before as made by the first check that used them."""
        if result.check is None or not (made := result.used & self._made_ahead):
            return result
        self._made_ahead -= made
        return replace(result, check=replace(result.check, called=result.check.called + len(made)))

    def _not_measured(self, task: Task) -> CheckResult:
        judge = self._suite.judge_of(self._cell.candidate)
        return CheckResult(
            case_id=task.case.id,
            repeat=task.trace.repeat,
            stage=task.stage.name,
            outcome="not_measured",
            gating=gates(task.stage, task.stage.name in self._calibrated),
            threshold=task.stage.threshold,
            reason=f"judge not recorded; record with: {record_command(self._suite, self._cell)}",
            judge=None if judge is None else judge.label,
        )


def _count_once(scored: Scored, trace: AgentTrace, counted: set[tuple[str, int, str]]) -> CheckResult:
    """The check, without cost where every call that answered it was counted for a stage before it."""
    assert scored.check is not None
    used = {(trace.case_id, trace.repeat, entry) for entry in scored.used}
    shared = bool(used) and used <= counted
    counted |= used
    return replace(scored.check, calls=0, called=0, tokens=0, cost=None) if shared else scored.check
