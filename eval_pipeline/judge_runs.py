"""Scores every stage of a cell's traces; judged ones side by side, one bad reply never touching another."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from eval_pipeline.agent_runs import ROUNDS_AFTER_CONFLICT, Progress
from eval_pipeline.cases import Case
from eval_pipeline.errors import RecordingMiss
from eval_pipeline.event_loop import gather_in_turn, run_async
from eval_pipeline.gating.outcomes import JudgeRecord
from eval_pipeline.judges import JudgeCalls
from eval_pipeline.models.connection import Connector
from eval_pipeline.models.run_calls import WINDOW, RunCalls
from eval_pipeline.recordings import Recordings
from eval_pipeline.scores import Stage
from eval_pipeline.shards import CheckPlace
from eval_pipeline.stages import Scored, score_stage
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


def calibrated_by(records: Mapping[str, JudgeRecord]) -> frozenset[str]:
    """The stages whose judge has met the suite's minimums."""
    return frozenset(name for name, record in records.items() if record.calibrated)


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

    asking = asyncio.ensure_future(gather_in_turn(score_judged(place) for place in judged))
    results: dict[int, TaskResult] = {
        place: await score(place) for place in todo if not tasks[place].stage.scorer.judged
    }
    return results | dict(zip(judged, await asking, strict=True))
