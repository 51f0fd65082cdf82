"""The quality ladder: a declared stage of a trace scored into an outcome."""

from __future__ import annotations

import inspect
import time
from collections.abc import Mapping
from dataclasses import dataclass, field

from eval_pipeline.cases import Case
from eval_pipeline.errors import EvalError, RecordingFileError, RecordingMiss, ScorerError
from eval_pipeline.failure_text import failure_text
from eval_pipeline.judges import JudgeCalls
from eval_pipeline.recordings import Scope, scope
from eval_pipeline.scores import CheckResult, Score, Stage
from eval_pipeline.traces import AgentTrace, as_replayed


async def score_trace(
    stage: Stage, case: Case, trace: AgentTrace, judge: JudgeCalls | None = None, *, calibrated: bool = False
) -> CheckResult | None:
    """The outcome of one stage, or None when the case expects nothing of it.

    A scorer that raises leaves its check unmeasured; a trace that broke off fails every stage that applies.

    Args:
        stage: what is checked.
        case: what was asked and expected.
        trace: what the system did.
        judge: whom judged stages ask.
        calibrated: whether the judge's record meets the suite's minimums: a stage that gates
            `when_calibrated` does so then.

    Raises:
        RecordingMiss: on replay, when the judge's recording lacks a call.
        RecordingFileError: when the recordings cannot be read.
    """
    return (await score_stage(stage, case, trace, judge, calibrated=calibrated)).check


@dataclass(frozen=True)
class Scored:
    """One scored stage with the recorded calls that answered its judge."""

    check: CheckResult | None
    used: frozenset[str] = frozenset()
    calls: Mapping[str, str] = field(default_factory=dict)
    """The digest of each of these, by id, once they are on disk."""


async def score_stage(
    stage: Stage, case: Case, trace: AgentTrace, judge: JudgeCalls | None, *, calibrated: bool
) -> Scored:
    """As `score_trace`, saying which recorded calls were used."""
    if not stage.applies(case):
        return Scored(None)
    started = time.perf_counter()
    gating = gates(stage, calibrated)
    judge_label = judge.judge.label if judge is not None and stage.scorer.judged else None
    if trace.error is not None:
        check = CheckResult(
            case_id=case.id,
            repeat=trace.repeat,
            stage=stage.name,
            outcome="error",
            gating=gating,
            threshold=stage.threshold,
            reason=f"{trace.error.kind}: {trace.error.message}",
            error_source=trace.error.source,
            judge=judge_label,
        )
        return Scored(check)
    # An equal question has one verdict, whichever repeat of the trace asks it: hence no repeat here.
    with scope(case.id, "judge", label=question_label(stage)) as asking:
        score, failure = await score_safely(stage, case, as_replayed(trace), judge)
        raise_first_miss(asking)
    passed = None if score is None else passes(score, stage.threshold)
    check = CheckResult(
        case_id=case.id,
        repeat=trace.repeat,
        stage=stage.name,
        outcome="error" if passed is None else "passed" if passed else "failed",
        gating=gating,
        threshold=stage.threshold,
        reason=score.reason if score is not None else str(failure),
        score=score,
        error_source=None if failure is None else failure.source,
        milliseconds=(time.perf_counter() - started) * 1000,
        # Where it was not asked, as nothing was fetched, the score is not its verdict.
        judge=judge_label if asking.used or score is None else None,
        calls=asking.calls,
        tokens=asking.input_tokens + asking.output_tokens,
        called=asking.called,
        cost=asking.cost,
    )
    return Scored(check, frozenset(asking.used))


def question_label(stage: Stage) -> str:
    """What a stage's calls are recorded under: its name, or what several stages that ask the same share."""
    label: str = getattr(stage.scorer, "asked_as", stage.name)
    return label


def gates(stage: Stage, calibrated: bool) -> bool:
    """Whether a stage's outcome counts for a case, and does not merely advise."""
    return stage.gating == "always" or (stage.gating == "when_calibrated" and calibrated)


def passes(score: Score, threshold: float) -> bool:
    """Whether a score passes: by its own verdict, else at the threshold, unrounded."""
    return score.passed if score.passed is not None else score.value >= threshold


def raise_first_miss(asking: Scope) -> None:
    """Make sure that a scorer which swallowed a missing recording does not pass for one that scored.

    Raises:
        RecordingMiss: when the scope has missed.
    """
    if asking.misses:
        raise asking.misses[0]


async def score_safely(
    stage: Stage, case: Case, trace: AgentTrace, judge: JudgeCalls | None
) -> tuple[Score | None, ScorerError | None]:
    """The score, or what kept it from being one.

    Raises:
        RecordingMiss: as below, for these are no scorer's doing.
        RecordingFileError: likewise.
    """
    scorer: object = stage.scorer
    try:
        if not stage.scorer.judged:
            scored = scorer.score(case, trace)  # type: ignore[attr-defined]
        elif judge is None:
            raise ScorerError(stage.name, "there is no judge; name one under `judge` in suite.yaml", "judge")
        else:
            scored = scorer.score(case, trace, judge)  # type: ignore[attr-defined]
        score = await scored if inspect.isawaitable(scored) else scored
        if not isinstance(score, Score):
            raise ScorerError(stage.name, f"the scorer gave {type(score).__name__} instead of a Score")
        return score, None
    except (RecordingMiss, RecordingFileError):
        raise
    except ScorerError as failure:
        return None, failure
    except EvalError as failure:
        return None, ScorerError(stage.name, str(failure))
    except (Exception, SystemExit) as failure:  # a scorer may raise anything; that is no score
        return None, ScorerError(stage.name, failure_text(failure))
