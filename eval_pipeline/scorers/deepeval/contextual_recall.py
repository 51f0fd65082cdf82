"""Contextual recall: the share of the reference's sentences that the judge finds in the context."""

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
from eval_pipeline.scorers.grounding.sentences import split_sentences
from eval_pipeline.scorers.tools import unknown_tools
from eval_pipeline.scores import JudgedPart, Score
from eval_pipeline.traces import AgentTrace

NAME = "contextual_recall"


@dataclass(frozen=True)
class ContextualRecall:
    """DeepEval's `ContextualRecallMetric`: whether what was fetched suffices for the reference answer."""

    version: ClassVar[int] = 1
    judged: ClassVar[bool] = True
    needs: ClassVar[frozenset[JudgedPart]] = frozenset({"context", "reference"})
    columns: ClassVar[Mapping[None, str]] = {None: "ctx recall"}

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
        return template_hashes("ContextualRecallMetric")

    async def score(self, case: Case, trace: AgentTrace, judge: JudgeCalls) -> Score:
        """Score one trace, with `details` `sentences` of the reference (each with verdict and reason).

        Raises:
            ScorerError: when it cannot be measured.
        """
        reference, context = reference_of(case, NAME), context_of(trace)
        if not context:
            return NOTHING_FETCHED
        sentences = [sentence.text for sentence in split_sentences(reference)]
        templates = Templates(
            "ContextualRecallMetric", NAME, count_items={"generate_verdicts": lambda _: len(sentences)}
        )
        metric = make_metric("ContextualRecallMetric", judge, templates, eval_mode="llm")
        value = await measure(
            metric, NAME, input=case.question, expected_output=reference, retrieval_context=context
        )
        return Score(
            value, metric.reason, details={"sentences": judged_steps("sentence", sentences, metric.verdicts)}
        )
