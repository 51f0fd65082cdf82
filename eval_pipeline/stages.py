"""The quality ladder: every declared stage of every trace scored, in order, into outcomes."""

from __future__ import annotations

import inspect
import time
from collections.abc import Sequence

from eval_pipeline.cases import Case
from eval_pipeline.errors import EvalError, RecordingMiss, ScorerError
from eval_pipeline.scores import CheckResult, Score, Stage
from eval_pipeline.suites import Cell, Suite
from eval_pipeline.traces import AgentTrace


async def score_traces(suite: Suite, cell: Cell, traces: Sequence[AgentTrace]) -> list[CheckResult]:
    """The outcomes of a cell: case by case, stage by stage, only for the stages that apply."""
    cases = {case.id: case for case in suite.datasets[cell.dataset].cases}
    return [
        result
        for trace in traces
        for stage in suite.stages
        if (result := await score_trace(stage, cases[trace.case_id], trace)) is not None
    ]


async def score_trace(stage: Stage, case: Case, trace: AgentTrace) -> CheckResult | None:
    """The outcome of one stage, or None when the case expects nothing of it.

    A scorer that raises leaves its check unmeasured; a trace that broke off fails every stage that applies.
    """
    if not stage.scorer.applies(case):
        return None
    started = time.perf_counter()
    gating = stage.gating == "always"
    if trace.error is not None:
        return CheckResult(
            case_id=case.id,
            repeat=trace.repeat,
            stage=stage.name,
            outcome="error",
            gating=gating,
            threshold=stage.threshold,
            reason=f"{trace.error.kind}: {trace.error.message}",
            error_source=trace.error.source,
        )
    score, failure = await _score(stage, case, trace)
    passed = None if score is None else _passed(score, stage.threshold)
    return CheckResult(
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
    )


def _passed(score: Score, threshold: float) -> bool:
    return score.passed if score.passed is not None else score.value >= threshold


async def _score(stage: Stage, case: Case, trace: AgentTrace) -> tuple[Score | None, ScorerError | None]:
    try:
        scored = stage.scorer.score(case, trace)
        score = await scored if inspect.isawaitable(scored) else scored
        if not isinstance(score, Score):
            raise ScorerError(stage.name, f"the scorer gave {type(score).__name__} instead of a Score")
        return score, None
    except RecordingMiss:
        raise
    except ScorerError as failure:
        return None, failure
    except EvalError as failure:
        return None, ScorerError(stage.name, str(failure))
    except Exception as failure:  # a scorer may raise anything; that is no score
        return None, ScorerError(stage.name, f"{type(failure).__name__}: {failure}")
