"""What contextual precision and recall share: a judge holds what was fetched against the reference answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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


@dataclass(frozen=True)
class ContextAndReference:
    """One verdict of the judge on each of the items that the metric is about."""

    version: ClassVar[int] = 1
    judged: ClassVar[bool] = True
    needs: ClassVar[frozenset[JudgedPart]] = frozenset({"context", "reference"})
    metric: ClassVar[str]
    """In our words, for errors."""
    metric_class: ClassVar[str]
    """DeepEval's name of it."""
    item: ClassVar[str]
    """What an item is; the details hold them under its plural."""

    class Expected(BaseModel):
        """The tools a case expects: their results are the context."""

        model_config = ConfigDict(extra="forbid")

        tools: list[str] | None = None
        """Tool names; without one the check does not apply."""

    def problems(self, case: Case, known: Known) -> list[str]:
        """Expected tools that the system does not have, and a missing reference answer."""
        missing = reference_problems(case, self.metric) if self.applies(case) else []
        return unknown_tools(case, known) + missing

    def applies(self, case: Case) -> bool:
        """Whether the case expects a tool call, and so a context."""
        return bool(case.expected.get("tools"))

    def rubric(self) -> Mapping[str, str]:
        """Hashes of the templates that the judge is asked with."""
        return template_hashes(self.metric_class)

    def items(self, reference: str, context: Sequence[str]) -> list[str]:
        """What the judge gives a verdict on, one each."""
        raise NotImplementedError

    async def score(self, case: Case, trace: AgentTrace, judge: JudgeCalls) -> Score:
        """Score one trace, with the items in `details`, each with verdict and reason.

        Raises:
            ScorerError: when it cannot be measured.
        """
        reference, context = reference_of(case, self.metric), context_of(trace)
        if not context:
            return NOTHING_FETCHED
        items = self.items(reference, context)
        templates = Templates(
            self.metric_class, self.metric, count_items={"generate_verdicts": lambda _: len(items)}
        )
        metric = make_metric(self.metric_class, judge, templates, eval_mode="llm")
        value = await measure(
            metric, self.metric, input=case.question, expected_output=reference, retrieval_context=context
        )
        steps = judged_steps(self.item, items, metric.verdicts)
        return Score(value, metric.reason, details={f"{self.item}s": steps})
