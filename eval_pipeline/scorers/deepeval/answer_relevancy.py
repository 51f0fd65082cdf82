"""Answer relevancy: the share of the answer's statements that the judge finds to address the question."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from pydantic import BaseModel, ConfigDict

from eval_pipeline.cases import Case, Known
from eval_pipeline.judges import JudgeCalls
from eval_pipeline.scorers.deepeval.measuring import answer_of, judged_steps, make_metric, measure
from eval_pipeline.scorers.deepeval.templates import Templates, template_hashes
from eval_pipeline.scores import JudgedPart, Score
from eval_pipeline.traces import AgentTrace

NAME = "answer_relevancy"


@dataclass(frozen=True)
class AnswerRelevancy:
    """DeepEval's `AnswerRelevancyMetric`; an ambiguous statement counts as relevant, as it does there."""

    version: ClassVar[int] = 1
    judged: ClassVar[bool] = True
    needs: ClassVar[frozenset[JudgedPart]] = frozenset({"answer"})
    columns: ClassVar[Mapping[None, str]] = {None: "relevancy"}

    class Expected(BaseModel):
        """Nothing: an answer to any question is to be about it."""

        model_config = ConfigDict(extra="forbid")

    def problems(self, case: Case, known: Known) -> list[str]:
        """None."""
        return []

    def applies(self, case: Case) -> bool:
        """Always."""
        return True

    def rubric(self) -> Mapping[str, str]:
        """Hashes of the templates that the judge is asked with."""
        return template_hashes("AnswerRelevancyMetric")

    async def score(self, case: Case, trace: AgentTrace, judge: JudgeCalls) -> Score:
        """Score one trace, with `details` `statements` (each with verdict and reason).

        Raises:
            ScorerError: when it cannot be measured.
        """
        answer = answer_of(trace, NAME)
        templates = Templates(
            "AnswerRelevancyMetric",
            NAME,
            count_items={"generate_verdicts": lambda values: len(values["statements"])},
        )
        metric = make_metric("AnswerRelevancyMetric", judge, templates, eval_mode="llm")
        value = await measure(metric, NAME, input=case.question, actual_output=answer)
        statements = judged_steps("statement", metric.statements, metric.verdicts)
        return Score(value, metric.reason, details={"statements": statements})
