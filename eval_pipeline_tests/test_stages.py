"""From score to outcome: thresholds, errors and what never becomes a score."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any, ClassVar

import pytest
from pydantic import BaseModel

from eval_pipeline.cases import Case
from eval_pipeline.errors import ScorerError
from eval_pipeline.scores import Score, Stage
from eval_pipeline.stages import score_trace
from eval_pipeline.traces import AgentTrace, TraceError

CASE = Case("c", "What?")
TRACE = AgentTrace("c", answer="That.")


@dataclass(frozen=True)
class Says:
    """Gives, or raises, what it is told to."""

    what: Any
    version: ClassVar[int] = 1
    judged: ClassVar[bool] = False

    class Expected(BaseModel):
        pass

    def problems(self, case, known):
        return []

    def applies(self, case):
        return self.what is not None

    def score(self, case, trace):
        said = self.what() if callable(self.what) else self.what
        if isinstance(said, Exception):
            raise said
        return said


def outcome(what, trace=TRACE, **stage):
    return asyncio.run(score_trace(Stage("words", Says(what), **stage), CASE, trace))


@pytest.mark.parametrize(
    ("score", "threshold", "expected"),
    [
        (Score(0.7, ""), 0.7, "passed"),
        (Score(0.7 - 1e-9, ""), 0.7, "failed"),  # compared unrounded
        (Score(1.0, "", passed=False), 0.5, "failed"),  # the scorer's own verdict goes first
        (Score(0.0, "", passed=True), 0.5, "passed"),
    ],
)
def test_a_score_passes_at_its_threshold_or_by_its_own_verdict(score, threshold, expected):
    assert outcome(score, threshold=threshold).outcome == expected


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), -0.1, 1.1, True, "1", None])
def test_a_value_that_is_no_share_is_an_error_and_not_a_score(bad):
    check = outcome(lambda: Score(bad, ""))
    assert (check.outcome, check.error_source, check.score) == ("error", "scorer", None)


def test_nan_among_the_metrics_is_an_error_too():
    check = outcome(lambda: Score(1.0, "", metrics={"hit": float("nan")}))
    assert check.outcome == "error"
    assert "hit" in check.reason


def test_a_scorer_that_raises_leaves_its_check_unmeasured():
    check = outcome(RuntimeError("bug"))
    assert (check.outcome, check.error_source, check.score) == ("error", "scorer", None)
    assert check.reason == "words: RuntimeError: bug"


def test_a_scorer_can_name_who_is_at_fault():
    assert outcome(ScorerError("words", "unusable reply", "judge")).error_source == "judge"


def test_something_else_than_a_score_is_an_error():
    assert "float instead of a Score" in outcome(1.0).reason


def test_a_scorer_may_be_awaited():
    async def later():
        return Score(1.0, "waited")

    assert outcome(later).reason == "waited"


@pytest.mark.parametrize("source", ["system", "provider"])
def test_a_trace_that_broke_off_fails_every_stage_that_applies(source):
    trace = AgentTrace("c", error=TraceError(source, "tool_limit", "still calling"))
    check = outcome(Score(1.0, ""), trace)
    assert (check.outcome, check.error_source, check.reason) == ("error", source, "tool_limit: still calling")


def test_a_stage_that_does_not_apply_has_no_outcome():
    assert outcome(None) is None
    assert outcome(None, AgentTrace("c", error=TraceError("system", "raised", "bug"))) is None


@pytest.mark.parametrize(
    ("gating", "gates"), [("always", True), ("never", False), ("when_calibrated", False)]
)
def test_only_a_stage_declared_so_gates(gating, gates):
    assert outcome(Score(1.0, ""), gating=gating).gating is gates


@pytest.mark.parametrize(
    ("expected", "outcomes"),
    [({}, None), ({"checks": []}, None), ({"checks": ["other"]}, None), ({"checks": ["words"]}, "passed")],
)
def test_a_stage_on_request_applies_to_the_cases_that_name_it(expected, outcomes):
    stage = Stage("words", Says(Score(1.0, "")), on_request=True)
    check = asyncio.run(score_trace(stage, Case("c", "What?", expected=expected), TRACE))
    assert (check and check.outcome) == outcomes
