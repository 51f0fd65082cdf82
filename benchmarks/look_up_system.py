"""A system without a framework: it looks a page up by a word of the question and asks its model once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from eval_pipeline.cases import Case
from eval_pipeline.content_hash import content_hash
from eval_pipeline.recordings import Request
from eval_pipeline.system_spec import SystemContext
from eval_pipeline.traces import AgentTrace, RetrievedDocument, ToolCall

TOOLS = ("look_up",)


@dataclass(frozen=True)
class LookUp:
    """The context, and the pages by id."""

    context: SystemContext
    pages: dict[str, str]

    async def run(self, case: Case) -> AgentTrace:
        """Answer one question with what its model says of the page it names."""
        page = next((word for word in case.question.split() if word in self.pages), None)
        text = "" if page is None else self.pages[page]
        request = Request(
            kind="chat",
            model="openai:scale",
            parts={
                "prompt": content_hash(self.context.prompt),
                "question": content_hash(case.question),
                "result of tool look_up": content_hash(text),
            },
            words=case.question,
        )

        async def live() -> dict[str, Any]:
            usage = {"input_tokens": 200, "output_tokens": 20}
            return {"text": f"{text[:80]} ({case.question})", "usage": usage}

        reply = await self.context.models.recordings.ask(request, live)
        messages = ({"role": "user", "content": case.question}, {"role": "ai", "content": reply["text"]})
        if page is None:
            return AgentTrace(case.id, answer=reply["text"], messages=messages)
        return AgentTrace(
            case.id,
            answer=reply["text"],
            tool_calls=(ToolCall("look_up", {"page": page}, text),),
            retrieved=(RetrievedDocument(page, 1, 1.0, text, 0),),
            context=(text,),
            messages=messages,
        )


def build(context: SystemContext) -> LookUp:
    """The system over the pages of the dataset."""
    return LookUp(context, {page.id: page.text for page in context.documents})
