"""GEval: a rubric of one's own, as explicit steps that a judge follows to a score."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict

from eval_pipeline.cases import Case, Known
from eval_pipeline.content_hash import content_hash
from eval_pipeline.judges import JudgeCalls
from eval_pipeline.scorers.deepeval.importing import import_deepeval
from eval_pipeline.scorers.deepeval.measuring import (
    NOTHING_FETCHED,
    answer_of,
    context_of,
    make_metric,
    measure,
    reference_of,
    reference_problems,
)
from eval_pipeline.scorers.deepeval.templates import Templates, template_hashes
from eval_pipeline.scorers.structured import lacks_field
from eval_pipeline.scorers.tools import ToolCalls, unknown_tools
from eval_pipeline.scores import JudgedPart, Score
from eval_pipeline.traces import AgentTrace

_PARTS: Mapping[JudgedPart, str] = {
    "question": "INPUT",
    "answer": "ACTUAL_OUTPUT",
    "reference": "EXPECTED_OUTPUT",
    "context": "RETRIEVAL_CONTEXT",
}


class _ExpectsNothing(BaseModel):
    model_config = ConfigDict(extra="forbid")


@dataclass(frozen=True)
class GEval:
    """DeepEval's `GEval` with the steps given: the judge's score of 0 to 10, as a share of 10.

    A score outside is refused, never cut to fit.
    """

    version: ClassVar[int] = 1
    judged: ClassVar[bool] = True

    steps: tuple[str, ...]
    """What the judge does, in order; the rubric."""
    sees: tuple[JudgedPart, ...] = ("question", "answer")
    """What of a case the judge is shown."""
    name: str = "g_eval"
    """What is scored, for errors."""
    field: str | None = None
    """Which field of a structured answer is the answer that is judged; left out: the answer itself."""

    @property
    def Expected(self) -> type[BaseModel]:
        """The tools a case expects, where the judge sees the context: it is their results."""
        return ToolCalls.Expected if "context" in self.sees else _ExpectsNothing

    def __post_init__(self) -> None:
        """Refuse a rubric that says nothing, and a judge that sees nothing.

        Raises:
            ValueError: when steps or parts are missing or blank.
        """
        if not self.steps or not all(step.strip() for step in self.steps):
            raise ValueError("steps: write at least one step, and none that is blank")
        if not self.sees or len(set(self.sees)) < len(self.sees):
            raise ValueError(f"sees: name at least one of {', '.join(_PARTS)}, each once")

    @property
    def needs(self) -> frozenset[JudgedPart]:
        """What of a case the judge is shown."""
        return frozenset(self.sees)

    def problems(self, case: Case, known: Known) -> list[str]:
        """Expected tools that the system does not have, and a missing reference answer."""
        missing = reference_problems(case, self.name) if "reference" in self.sees else []
        return unknown_tools(case, known) + (missing if self.applies(case) else [])

    def applies(self, case: Case) -> bool:
        """Whether the case has what the judge sees: a context only where it expects a tool call."""
        return "context" not in self.sees or bool(case.expected.get("tools"))

    def rubric(self) -> Mapping[str, str]:
        """Hashes of the steps and of the templates that the judge is asked with."""
        own = {"steps": content_hash(list(self.steps)), "sees": content_hash(list(self.sees))}
        if self.field is not None:
            own["field"] = content_hash(self.field)
        return {**template_hashes("GEval"), **own}

    async def score(self, case: Case, trace: AgentTrace, judge: JudgeCalls) -> Score:
        """Score one trace.

        Raises:
            ScorerError: when it cannot be measured.
        """
        parts: dict[str, Any] = {"input": case.question}
        if self.field is not None:
            if (lacking := lacks_field(trace, self.field)) is not None:
                return lacking
            trace = replace(trace, answer=_words(trace.structured[self.field]))
        if "answer" in self.sees:
            parts["actual_output"] = answer_of(trace, self.name)
        if "reference" in self.sees:
            parts["expected_output"] = reference_of(case, self.name)
        if "context" in self.sees:
            parts["retrieval_context"] = context_of(trace)
            if not parts["retrieval_context"]:
                return NOTHING_FETCHED
        deepeval_parts = import_deepeval().test_case.SingleTurnParams
        metric = make_metric(
            "GEval",
            judge,
            Templates("GEval", self.name),
            name=self.name,
            evaluation_steps=list(self.steps),
            evaluation_params=[getattr(deepeval_parts, _PARTS[part]) for part in self.sees],
        )
        value = await measure(metric, self.name, **parts)
        return Score(value, metric.reason)


def _words(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
