"""One structured answer for each issue that a user filed: its label, its priority and a summary."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from eval_pipeline.cases import Case
from eval_pipeline.system_spec import SystemContext
from eval_pipeline.traces import AgentTrace, System


class Triage(BaseModel):
    """The triage of one issue."""

    # The model is sent the JSON schema of this class, docstring included: an edit of it asks anew.
    model_config = ConfigDict(extra="forbid")

    label: Literal["bug", "feature", "docs", "question"]
    priority: Literal["p0", "p1", "p2"]
    summary: str = Field(min_length=1)

    @field_validator("summary")
    @classmethod
    def _says_something(cls, summary: str) -> str:
        if not summary.strip():
            raise ValueError("blank")
        return summary


def build(context: SystemContext) -> System:
    """The triage with the candidate's model and prompt."""
    return IssueTriage(context.models.chat().with_structured_output(Triage, include_raw=True), context.prompt)


@dataclass(frozen=True)
class IssueTriage:
    """One call of the model for an issue; nothing is kept between runs."""

    model: Any
    prompt: str

    async def run(self, case: Case) -> AgentTrace:
        """Triage one issue.

        Returns:
            A trace whose answer is the raw reply, with `structured` where that fits `Triage`, else None.
        """
        reply = await self.model.ainvoke([("system", self.prompt), ("user", case.question)])
        triage: Triage | None = reply["parsed"]
        return AgentTrace(
            case.id,
            answer=reply["raw"].text,
            structured=None if triage is None else triage.model_dump(mode="json"),
        )
