"""Faithfulness: the share of the answer's claims that the judge finds in the retrieved context."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

from pydantic import BaseModel, ConfigDict

from eval_pipeline.cases import Case, Known
from eval_pipeline.judges import JudgeCalls
from eval_pipeline.scorers.deepeval.measuring import (
    NOTHING_FETCHED,
    answer_of,
    context_of,
    judged_steps,
    make_metric,
    measure,
)
from eval_pipeline.scorers.deepeval.templates import Templates, template_hashes
from eval_pipeline.scorers.tools import unknown_tools
from eval_pipeline.scores import JudgedPart, Score
from eval_pipeline.traces import AgentTrace

NAME = "faithfulness"


@dataclass(frozen=True)
class Faithfulness:
    """DeepEval's `FaithfulnessMetric`: claims of the answer against truths of the context, by a judge."""

    version: ClassVar[int] = 1
    judged: ClassVar[bool] = True
    needs: ClassVar[frozenset[JudgedPart]] = frozenset({"answer", "context"})
    columns: ClassVar[Mapping[None, str]] = {None: "faithful"}

    strict: bool = True
    """Whether ambiguous claims count as unsupported (DeepEval's `penalize_ambiguous_claims`)."""

    class Expected(BaseModel):
        """The tools a case expects: an answer is to be faithful to their results."""

        model_config = ConfigDict(extra="forbid")

        tools: list[str] | None = None
        """Tool names; without one the check does not apply."""

    def problems(self, case: Case, known: Known) -> list[str]:
        """Expected tools that the system does not have."""
        return unknown_tools(case, known)

    def applies(self, case: Case) -> bool:
        """Whether the case expects a tool call, and so an answer from its result."""
        return bool(case.expected.get("tools"))

    def rubric(self) -> Mapping[str, str]:
        """Hashes of the templates that the judge is asked with."""
        return template_hashes("FaithfulnessMetric")

    def variants(self) -> Mapping[str, Faithfulness]:
        """The same with ambiguous claims counted the other way: the judge is calibrated both ways."""
        return {"plain" if self.strict else "strict": replace(self, strict=not self.strict)}

    async def score(self, case: Case, trace: AgentTrace, judge: JudgeCalls) -> Score:
        """Score one trace, with `details` `truths` and `claims` (each with verdict and reason).

        Raises:
            ScorerError: when it cannot be measured.
        """
        answer, context = answer_of(trace, NAME), context_of(trace)
        if not context:
            return NOTHING_FETCHED
        templates = Templates(
            "FaithfulnessMetric",
            NAME,
            count_items={"generate_verdicts": lambda values: len(values["claims"])},
            names={("generate_verdicts", "retrieval_context"): "truths in the context"},
        )
        metric = make_metric(
            "FaithfulnessMetric", judge, templates, penalize_ambiguous_claims=self.strict, eval_mode="llm"
        )
        value = await measure(
            metric, NAME, input=case.question, actual_output=answer, retrieval_context=context
        )
        claims = judged_steps("claim", metric.claims, metric.verdicts)
        return Score(value, metric.reason, details={"claims": claims, "truths": list(metric.truths)})
