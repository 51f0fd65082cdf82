"""Runs one DeepEval metric on one case, with the guards that DeepEval itself lacks."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from eval_pipeline.cases import Case
from eval_pipeline.errors import EvalError, ScorerError
from eval_pipeline.judges import JudgeCalls
from eval_pipeline.scorers.deepeval.importing import import_deepeval
from eval_pipeline.scorers.deepeval.judge_model import judge_model
from eval_pipeline.scorers.deepeval.templates import Templates
from eval_pipeline.scores import Score
from eval_pipeline.traces import AgentTrace

NOTHING_FETCHED = Score(0.0, "the agent fetched nothing, so there is no context to judge by", passed=False)
"""What a case gets that expects a tool call when there was none: no judge is asked about it."""


def make_metric(metric_class: str, judge: JudgeCalls, templates: Templates, **options: Any) -> Any:
    """A metric of its own for one measurement: it keeps what it measured.

    Args:
        metric_class: DeepEval's name of it.
        judge: the model to ask.
        templates: its prompts.
        options: its further arguments.
    """
    return getattr(import_deepeval().metrics, metric_class)(
        model=judge_model(judge, templates.metric), evaluation_template=templates, async_mode=True, **options
    )


async def measure(metric: Any, name: str, **parts: Any) -> float:
    """The metric's value.

    Args:
        metric: one made for this measurement.
        name: names it in errors.
        parts: the test case in DeepEval's words.

    Raises:
        ScorerError: when the judge's reply is unusable, DeepEval raises, or the value is not from 0 to 1.
        EvalError: whatever else our own code raised below DeepEval, such as a missing recording.
    """
    try:
        await metric.a_measure(import_deepeval().test_case.LLMTestCase(**parts), _show_indicator=False)
    except Exception as failure:
        ours = next((link for link in _chain(failure) if isinstance(link, EvalError)), None)
        if ours is not None:  # DeepEval wraps what it takes for a prompt that was too long
            raise ours from None
        raise ScorerError(
            name, f"DeepEval could not measure it: {type(failure).__name__}: {failure}"
        ) from failure
    value = metric.score
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ScorerError(name, f"the judge gave {value!r}, which is no number", "judge")
    if not math.isfinite(value) or not 0 <= value <= 1:
        raise ScorerError(name, f"the judge gave {value!r}, which is not from 0 to 1", "judge")
    return float(value)


def answer_of(trace: AgentTrace, name: str) -> str:
    """The answer to judge.

    Raises:
        ScorerError: when it is blank: the system answered nothing.
    """
    if not (trace.answer or "").strip():
        raise ScorerError(name, "the answer is blank; no judge is asked about it", "system")
    return trace.answer or ""


def context_of(trace: AgentTrace) -> list[str]:
    """What the tools returned: search results first, then the rest; without blank texts."""
    return [text for text in trace.context if text.strip()]


def reference_of(case: Case, name: str) -> str:
    """The reference answer.

    Raises:
        ScorerError: when the case has none.
    """
    if not (case.reference or "").strip():
        raise ScorerError(name, "the case has no reference answer; write its `reference`")
    return case.reference or ""


def reference_problems(case: Case, name: str) -> list[str]:
    """What is wrong with a case whose check compares with a reference answer."""
    missing = not (case.reference or "").strip()
    return [f"reference is missing, with which {name} compares; write it"] if missing else []


def judged_steps(noun: str, items: Sequence[str], verdicts: Sequence[Any]) -> list[dict[str, Any]]:
    """The judge's verdict on each item, as plain JSON for `details`."""
    return [
        {noun: item, "verdict": str(verdict.verdict), "reason": verdict.reason}
        for item, verdict in zip(items, verdicts, strict=True)
    ]


def _chain(failure: BaseException) -> Iterator[BaseException]:
    link: BaseException | None = failure
    while link is not None:
        yield link
        link = link.__cause__ or link.__context__
