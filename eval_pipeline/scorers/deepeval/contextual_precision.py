"""Contextual precision: whether the judge finds the useful texts ranked before the useless ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from pydantic import BaseModel, ConfigDict

from eval_pipeline.cases import Case, Known
from eval_pipeline.judges import JudgeCalls
from eval_pipeline.scorers.deepeval.measuring import (
    NOTHING_FETCHED,
    context_of,
    judged_steps,
    make_metric,
    measure,
    reference_of,
    reference_problems,
)
from eval_pipeline.scorers.deepeval.templates import Templates, template_hashes
from eval_pipeline.scorers.tools import unknown_tools
from eval_pipeline.scores import JudgedPart, Score
from eval_pipeline.traces import AgentTrace

NAME = "contextual_precision"
SHOWN = 80
"""Characters of a context text that name it in the details."""


@dataclass(frozen=True)
class ContextualPrecision:
    """DeepEval's `ContextualPrecisionMetric`: average precision at the ranks of the useful texts."""

    version: ClassVar[int] = 1
    judged: ClassVar[bool] = True
    needs: ClassVar[frozenset[JudgedPart]] = frozenset({"context", "reference"})
    columns: ClassVar[Mapping[None, str]] = {None: "ctx precision"}

    class Expected(BaseModel):
        """The tools a case expects: their results are the context."""

        model_config = ConfigDict(extra="forbid")

        tools: list[str] | None = None
        """Tool names; without one the check does not apply."""

    def problems(self, case: Case, known: Known) -> list[str]:
        """Expected tools that the system does not have, and a missing reference answer."""
        missing = reference_problems(case, NAME) if self.applies(case) else []
        return unknown_tools(case, known) + missing

    def applies(self, case: Case) -> bool:
        """Whether the case expects a tool call, and so a context."""
        return bool(case.expected.get("tools"))

    def rubric(self) -> Mapping[str, str]:
        """Hashes of the templates that the judge is asked with."""
        return template_hashes("ContextualPrecisionMetric")

    async def score(self, case: Case, trace: AgentTrace, judge: JudgeCalls) -> Score:
        """Score one trace, with `details` `texts` of the context (each with verdict and reason).

        Raises:
            ScorerError: when it cannot be measured.
        """
        reference, context = reference_of(case, NAME), context_of(trace)
        if not context:
            return NOTHING_FETCHED
        templates = Templates(
            "ContextualPrecisionMetric", NAME, count_items={"generate_verdicts": lambda _: len(context)}
        )
        metric = make_metric("ContextualPrecisionMetric", judge, templates, eval_mode="llm")
        value = await measure(
            metric, NAME, input=case.question, expected_output=reference, retrieval_context=context
        )
        shown = [" ".join(text.split())[:SHOWN] for text in context]
        return Score(value, metric.reason, details={"texts": judged_steps("text", shown, metric.verdicts)})
