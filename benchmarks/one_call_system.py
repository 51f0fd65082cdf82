"""A system that asks its model once a case: what a case costs beside that call is ours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from eval_pipeline.cases import Case
from eval_pipeline.system_spec import SystemContext
from eval_pipeline.traces import AgentTrace

TOOLS = ()


@dataclass(frozen=True)
class OneCall:
    """A prompt and a question in, a reply out."""

    model: Any
    prompt: str

    async def run(self, case: Case) -> AgentTrace:
        """Answer one case."""
        reply = await self.model.ainvoke([("system", self.prompt), ("user", case.question)])
        return AgentTrace(case.id, answer=reply.text)


def build(context: SystemContext) -> OneCall:
    """The system with the candidate's model and prompt."""
    return OneCall(context.models.chat(), context.prompt)
