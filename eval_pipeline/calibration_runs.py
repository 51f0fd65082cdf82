"""Tries a judge on a suite's calibration cases, several times each, as it judges in production."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from eval_pipeline.agent_runs import ROUNDS_AFTER_CONFLICT, Progress
from eval_pipeline.calibration import REPEATS, CalibrationCase, CalibrationScore
from eval_pipeline.errors import RecordingMiss, RecordingMisses
from eval_pipeline.event_loop import run_async
from eval_pipeline.judges import Judge, JudgeCalls
from eval_pipeline.models.connection import Connector
from eval_pipeline.models.run_calls import RunCalls
from eval_pipeline.recordings import Recordings, scope
from eval_pipeline.scores import Stage
from eval_pipeline.stages import passes, question_label, raise_first_miss, score_safely
from eval_pipeline.suites import Suite

CALIBRATION_LABEL = "calibration of "
"""How the label of a recorded call begins that a calibration asked."""


@dataclass(frozen=True)
class Calibrated:
    """What a judge says of calibration cases."""

    scores: list[CalibrationScore]
    """By metric, case and repeat."""
    calls: Mapping[str, str]
    """The digest of each recorded response that they rest on, by id."""


@dataclass(frozen=True)
class _Task:
    """One calibration case under one metric in one repeat."""

    case: CalibrationCase
    metric: str
    """The stage's name, or that of a variant of its scorer."""
    stage: Stage
    repeat: int


@dataclass(frozen=True)
class _Scored:
    score: CalibrationScore
    used: frozenset[str]


def calibrate(
    suite: Suite,
    judge: Judge,
    open_recordings: Callable[[], Recordings],
    *,
    connector: Connector | None = None,
    calls: RunCalls | None = None,
    on_progress: Progress = lambda done, total: None,
) -> Calibrated:
    """What the judge says of each calibration case.

    Args:
        suite: declares the cases and the stages they try.
        judge: who is tried.
        open_recordings: opens the recordings anew; called again when another process recorded first.
        connector: makes the live clients; only asked on a live call.
        calls: the live calls of the evaluation that this is a part of.
        on_progress: told after every score.

    Raises:
        RecordingMisses: on replay, when something is not recorded.
    """
    tasks = list(_tasks(suite))
    done: dict[int, _Scored] = {}
    digests: dict[str, str] = {}
    todo: Sequence[int] = range(len(tasks))
    for _ in range(ROUNDS_AFTER_CONFLICT):
        recordings = open_recordings()
        try:
            asked = JudgeCalls(judge, recordings, connector, calls)
            done |= run_async(_score_all(tasks, todo, asked, on_progress, calibrate_command(suite, judge)))
        finally:
            lost = recordings.close()
        digests |= recordings.digests(entry for place in todo for entry in done[place].used - lost)
        todo = [place for place in todo if done[place].used & lost]
        if not todo:
            break
    return Calibrated([done[place].score for place in range(len(tasks))], digests)


def calibrate_command(suite: Suite, judge: Judge) -> str:
    """The command that records a judge's calibration."""
    return f"eval-pipeline calibrate {suite.name} --judge {judge.model.name} --record-mode new_episodes"


def calibration_recorded(suite: Suite, judge: Judge) -> bool:
    """Whether the recordings hold all of a judge's calibration."""
    recordings = Recordings(suite.recordings)
    if not recordings.recorded(judge.model.name, "judge"):
        return False
    try:
        calibrate(suite, judge, lambda: recordings)
    except RecordingMisses:
        return False
    return True


def calibrated_stages(suite: Suite) -> dict[str, Stage]:
    """The stages that calibration cases try, and the variants of their scorers, by metric."""
    cases = suite.calibration.cases if suite.calibration else ()
    tried = {metric for case in cases for metric in case.metrics}
    found: dict[str, Stage] = {}
    for stage in suite.stages:
        if stage.name in tried:
            found[stage.name] = stage
            variants: dict[str, Any] = getattr(stage.scorer, "variants", dict)()
            for name, scorer in variants.items():
                found[f"{stage.name} ({name})"] = replace(stage, scorer=scorer)
    return found


def _tasks(suite: Suite) -> Iterator[_Task]:
    cases = suite.calibration.cases if suite.calibration else ()
    for metric, stage in calibrated_stages(suite).items():
        for case in cases:
            if stage.name in case.metrics:
                for repeat in range(REPEATS if stage.scorer.judged else 1):
                    yield _Task(case, metric, stage, repeat)


async def _score_all(
    tasks: Sequence[_Task], todo: Sequence[int], judge: JudgeCalls, on_progress: Progress, command: str
) -> dict[int, _Scored]:
    window = asyncio.Semaphore(judge.window)
    misses: list[RecordingMiss] = []
    finished = 0

    async def score(place: int) -> _Scored | None:
        nonlocal finished
        async with window:
            try:
                return await _score(tasks[place], judge)
            except RecordingMiss as miss:
                misses.append(miss)
                return None
            finally:
                finished += 1
                on_progress(finished, len(todo))

    results = await asyncio.gather(*(score(place) for place in todo))
    if misses:
        raise RecordingMisses(misses, command)
    return {place: found for place, found in zip(todo, results, strict=True) if found is not None}


async def _score(task: _Task, judge: JudgeCalls) -> _Scored:
    case, stage = task.case, task.stage
    # A label of its own: a miss of a run is explained by what runs asked, not by these cases. Variants of a
    # scorer share it, as they share their calls, so that a miss of either is explained by them.
    label = f"{CALIBRATION_LABEL}{question_label(stage)}"
    with scope(case.id, "judge", label=label, judge_repeat=task.repeat) as asking:
        trace = case.trace(getattr(stage.scorer, "field", None))
        score, failure = await score_safely(stage, case.case, trace, judge)
        raise_first_miss(asking)
    passed = None if score is None else passes(score, stage.threshold)
    found = CalibrationScore(
        case_id=case.id,
        metric=task.metric,
        expected=case.expected,
        judge_repeat=task.repeat,
        outcome="error" if passed is None else "passed" if passed else "failed",
        threshold=stage.threshold,
        score=None if score is None else score.value,
        reason=score.reason if score is not None else str(failure),
        error_source=None if failure is None else failure.source,
        details={} if score is None else score.details,
        judge=judge.judge.label if stage.scorer.judged else None,
        calls=asking.calls,
        tokens=asking.input_tokens + asking.output_tokens,
    )
    return _Scored(found, frozenset(asking.used))
