"""Whether there is an answer at all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from pydantic import BaseModel, ConfigDict

from eval_pipeline.cases import Case, Known
from eval_pipeline.scores import Score
from eval_pipeline.traces import AgentTrace


@dataclass(frozen=True)
class AnswerPresent:
    """1.0 for an answer of at least one sign, 0.0 for none or a blank one; applies to every case."""

    version: ClassVar[int] = 1
    judged: ClassVar[bool] = False

    class Expected(BaseModel):
        """Nothing: every case wants an answer."""

        model_config = ConfigDict(extra="forbid")

    def problems(self, case: Case, known: Known) -> list[str]:
        """None."""
        return []

    def applies(self, case: Case) -> bool:
        """Always."""
        return True

    def score(self, case: Case, trace: AgentTrace) -> Score:
        """Score one trace."""
        length = len((trace.answer or "").strip())
        return Score(float(length > 0), f"an answer of {length} characters" if length else "no answer")
