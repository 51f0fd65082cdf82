"""Scores every stage of a cell's traces; judged ones side by side, one bad reply never touching another."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from eval_pipeline.agent_runs import ROUNDS_AFTER_CONFLICT, Progress, record_command
from eval_pipeline.cases import Case
from eval_pipeline.errors import RecordingMiss, RecordingMisses
from eval_pipeline.event_loop import run_async
from eval_pipeline.gating.outcomes import JudgeRecord
from eval_pipeline.judges import JudgeCalls
from eval_pipeline.models.connection import Connector
from eval_pipeline.models.run_calls import WINDOW, RunCalls
from eval_pipeline.recordings import Recordings
from eval_pipeline.scores import CheckResult, Stage
from eval_pipeline.shards import CheckPlace
from eval_pipeline.stages import Scored, gates, score_stage
from eval_pipeline.suites import Cell, Suite
from eval_pipeline.traces import AgentTrace

_OF_THE_JUDGE = ("judge template", "rubric", "parameters", "weights")
"""Parts of a request that only the judge's own declaration and templates decide."""


@dataclass(frozen=True)
class Task:
    """One stage of one trace."""

    stage: Stage
    case: Case
    trace: AgentTrace

    @property
    def place(self) -> CheckPlace:
        """What tells it from the other tasks of a cell."""
        return self.case.id, self.trace.repeat, self.stage.name


TaskResult = Scored | RecordingMiss


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
    cases = {case.id: case for case in suite.datasets[cell.dataset].cases}
    tasks = [Task(stage, cases[trace.case_id], trace) for trace in traces for stage in suite.stages]
    scored = score_tasks(
        suite,
        cell,
        tasks,
        open_recordings,
        connector=connector,
        calls=calls,
        calibrated=calibrated_by(records or {}),
        on_progress=on_progress,
    )
    counted: set[tuple[str, int, str]] = set()
    return [
        _count_once(found, task.trace, counted)
        for task, found in zip(tasks, scored, strict=True)
        if found.check is not None
    ]


def calibrated_by(records: Mapping[str, JudgeRecord]) -> frozenset[str]:
    """The stages whose judge has met the suite's minimums."""
    return frozenset(name for name, record in records.items() if record.calibrated)


def score_tasks(
    suite: Suite,
    cell: Cell,
    tasks: Sequence[Task],
    open_recordings: Callable[[], Recordings],
    *,
    connector: Connector | None = None,
    calls: RunCalls | None = None,
    calibrated: Collection[str] = (),
    answered: Collection[str] = (),
    scored: Mapping[CheckPlace, TaskResult] | None = None,
    on_progress: Progress = lambda done, total: None,
) -> list[Scored]:
    """The outcome of each task, with what it used; calls that several share are counted for each.

    Args:
        suite: the suite that declares the cell.
        cell: which candidate on which dataset.
        tasks: what to score.
        open_recordings: opens the recordings anew; called again when another process recorded first.
        connector: makes the live clients; only asked on a live call.
        calls: the live calls of the run.
        calibrated: stages that gate if they gate `when_calibrated`.
        answered: stages whose judge is recorded for other answers of the cell, which are no tasks here.
        scored: what shards have scored already.
        on_progress: told after every judged check.

    Raises:
        RecordingMisses: as for `score_cell`.
    """
    calls, known = calls or RunCalls(), scored or {}
    rest = [task for task in tasks if task.place not in known]
    made = iter(
        run_tasks(
            suite,
            cell,
            rest,
            open_recordings,
            connector=connector,
            calls=calls,
            calibrated=calibrated,
            on_progress=on_progress,
        )
    )
    results = [known[task.place] if task.place in known else next(made) for task in tasks]
    judge = suite.judge_of(cell.candidate)
    label = None if judge is None else judge.label
    in_order = _count_made_ahead(results, calls)
    return _settle_misses(tasks, in_order, record_command(suite, cell), label, answered, calibrated)


def run_tasks(
    suite: Suite,
    cell: Cell,
    tasks: Sequence[Task],
    open_recordings: Callable[[], Recordings],
    *,
    connector: Connector | None,
    calls: RunCalls,
    calibrated: Collection[str],
    on_progress: Progress,
) -> list[TaskResult]:
    """The outcome of each task, or the first call of it that no recording answers; arguments as above."""
    judge = suite.judge_of(cell.candidate)
    done: dict[int, TaskResult] = {}
    todo: Sequence[int] = range(len(tasks))
    for _ in range(ROUNDS_AFTER_CONFLICT):
        if not todo:
            break
        recordings = open_recordings()
        asked = None if judge is None else JudgeCalls(judge, recordings, connector, calls)
        try:
            results = run_async(try_tasks(tasks, todo, asked, frozenset(calibrated), on_progress))
        finally:
            lost = recordings.close()
        done |= {place: _with_digests(found, recordings) for place, found in results.items()}
        # What another process recorded first is what everyone replays: those checks are judged on it.
        todo = [place for place in todo if isinstance(found := done[place], Scored) and found.used & lost]
    return [done[place] for place in range(len(tasks))]


def _with_digests(result: TaskResult, recordings: Recordings) -> TaskResult:
    if isinstance(result, Scored) and result.used:
        return replace(result, calls=recordings.digests(result.used))
    return result


async def try_tasks(
    tasks: Sequence[Task],
    todo: Sequence[int],
    judge: JudgeCalls | None,
    calibrated: frozenset[str],
    on_progress: Progress = lambda done, total: None,
) -> dict[int, TaskResult]:
    """The outcome of each of these places of `tasks`, or the first call of it that no recording answers."""
    window = asyncio.Semaphore(WINDOW if judge is None else judge.window)
    judged = [place for place in todo if tasks[place].stage.scorer.judged]
    finished = 0

    async def score(place: int) -> TaskResult:
        task = tasks[place]
        try:
            return await score_stage(
                task.stage, task.case, task.trace, judge, calibrated=task.stage.name in calibrated
            )
        except RecordingMiss as miss:
            return miss

    async def score_judged(place: int) -> TaskResult:
        nonlocal finished
        async with window:
            result = await score(place)
        finished += 1
        on_progress(finished, len(judged))
        return result

    asking = asyncio.gather(*(score_judged(place) for place in judged))
    results: dict[int, TaskResult] = {
        place: await score(place) for place in todo if not tasks[place].stage.scorer.judged
    }
    return results | dict(zip(judged, await asking, strict=True))


def _count_made_ahead(results: Sequence[TaskResult], calls: RunCalls) -> list[TaskResult]:
    """The results, with the calls that this run made before as made by the first check that used them."""
    left = set(calls.made_ahead)
    counted: list[TaskResult] = []
    for result in results:
        if isinstance(result, Scored) and result.check is not None and (made := result.used & left):
            left -= made
            check = replace(result.check, called=result.check.called + len(made))
            result = replace(result, check=check)
        counted.append(result)
    return counted


def _settle_misses(
    tasks: Sequence[Task],
    results: Sequence[TaskResult],
    command: str,
    judge: str | None,
    answered: Collection[str],
    calibrated: Collection[str],
) -> list[Scored]:
    """The outcomes, those of a judge without any recording as not measured.

    Raises:
        RecordingMisses: for a stage that is recorded in part.
    """
    by_stage: dict[str, list[TaskResult]] = {}
    for task, result in zip(tasks, results, strict=True):
        by_stage.setdefault(task.stage.name, []).append(result)
    unrecorded = {name for name, found in by_stage.items() if name not in answered and _is_unrecorded(found)}
    misses: list[RecordingMiss] = []
    scored: list[Scored] = []
    for task, result in zip(tasks, results, strict=True):
        if isinstance(result, Scored):
            scored.append(result)
        elif task.stage.name in unrecorded:
            scored.append(Scored(_not_measured(task, command, judge, task.stage.name in calibrated)))
        else:
            misses.append(result)
    if misses:
        raise RecordingMisses(misses, command)
    return scored


def _count_once(scored: Scored, trace: AgentTrace, counted: set[tuple[str, int, str]]) -> CheckResult:
    """The check, without cost where every call that answered it was counted for a stage before it."""
    assert scored.check is not None
    used = {(trace.case_id, trace.repeat, entry) for entry in scored.used}
    shared = bool(used) and used <= counted
    counted |= used
    return replace(scored.check, calls=0, called=0, tokens=0, cost=None) if shared else scored.check


def _is_unrecorded(results: Sequence[TaskResult]) -> bool:
    """Whether nothing of a stage is recorded for these answers, rather than the judge asked otherwise now."""
    answered = any(isinstance(result, Scored) and result.used for result in results)
    misses = [result for result in results if isinstance(result, RecordingMiss)]
    # Of another model, or of nothing at all, nothing has changed.
    alike = [miss.why for miss in misses if not miss.why.startswith(("model changed", "nothing recorded"))]
    changed = any(part in why for why in alike for part in _OF_THE_JUDGE)
    return bool(misses) and not answered and not changed


def _not_measured(task: Task, command: str, judge: str | None, calibrated: bool) -> CheckResult:
    return CheckResult(
        case_id=task.case.id,
        repeat=task.trace.repeat,
        stage=task.stage.name,
        outcome="not_measured",
        gating=gates(task.stage, calibrated),
        threshold=task.stage.threshold,
        reason=f"judge not recorded; record with: {command}",
        judge=judge,
    )
