"""What stands in the shop's files: its system, its scorers, its suite and its cases."""

from __future__ import annotations

from typing import Any

SYSTEM = """
from dataclasses import dataclass

from eval_pipeline.content_hash import content_hash
from eval_pipeline.recordings import Request
from eval_pipeline.traces import AgentTrace, ToolCall

TOOLS = ("price",)
SUFFIX = "."


@dataclass(frozen=True)
class Shop:
    context: object

    async def run(self, case):
        context, words = self.context, case.question.split()
        if "boom" in words:
            raise ValueError("boom")
        said = []
        if "price" in words:
            said.append(str(context.fixtures["prices"].get(words[-1])))
        if "cheapest" in words:
            said.append(min(context.fixtures["prices"].items(), key=lambda item: item[1])[0])
        if "page" in words:
            said.append(context.documents[0].text.strip())
        told = " ".join(said)
        parts = {"prompt": context.prompt, "parameters": dict(context.parameters), "question": case.question}
        request = Request(
            kind="chat",
            model="openai:shop",
            parts={name: content_hash(value) for name, value in {**parts, "told": told}.items()},
            words=case.question,
        )

        async def live():
            return {"text": f"{context.prompt} {context.parameters.get('tone', '')} {told}"}

        response = await context.models.recordings.ask(request, live)
        return AgentTrace(
            case.id,
            answer=response["text"] + SUFFIX,
            tool_calls=(ToolCall("price", {}, told),) if said else (),
            context=(told,),
        )


def build(context):
    return Shop(context)
"""

SCORERS = """
from dataclasses import dataclass
from typing import ClassVar

from pydantic import BaseModel

from eval_pipeline.judges import JudgePrompt
from eval_pipeline.scores import Score

SCHEMA = {"title": "Grade", "type": "object"}


@dataclass(frozen=True)
class Says:
    version: ClassVar[int] = 1
    judged: ClassVar[bool] = False
    also: str = ""

    class Expected(BaseModel):
        says: str = ""

    def problems(self, case, known):
        return []

    def applies(self, case):
        return bool(case.expected["says"])

    def score(self, case, trace):
        said = case.expected["says"] in trace.answer and self.also in trace.answer
        metrics = {"length": 1 / len(trace.answer)}
        return Score(float(said), "says it" if said else "does not", metrics=metrics)


@dataclass(frozen=True)
class Kind:
    version: ClassVar[int] = 1
    judged: ClassVar[bool] = True
    needs: ClassVar[frozenset] = frozenset({"answer"})
    rubric_text: str = "Is it kind?"

    class Expected(BaseModel):
        pass

    def problems(self, case, known):
        return []

    def applies(self, case):
        return True

    def rubric(self):
        return {"kind": self.rubric_text}

    async def score(self, case, trace, judge):
        prompt = JudgePrompt(f"{self.rubric_text} {trace.answer}", "kind", "ask", "0" * 64)
        said = await judge.ask(prompt, SCHEMA)
        return Score(int(said) / 10, f"the judge says {said}")
"""

SUITE: dict[str, Any] = {
    "stages": [
        {"name": "says", "threshold": 1.0},
        {"name": "kind", "threshold": 0.5, "gating": "always"},
    ],
    "judge": {"name": "openai:judge", "settings": {"seed": 1}},
    "candidates": {
        "plain": {"model": "openai:shop", "prompt": "v1"},
        "loud": {"model": "openai:shop", "prompt": "v1", "parameters": {"tone": "loud"}},
    },
}
CASES: list[dict[str, Any]] = [
    {"id": "apple", "input": "price of apple", "expected": {"says": "3"}},
    {"id": "pear", "input": "price of pear", "expected": {"says": "4"}},
    {"id": "plum", "input": "price of plum", "expected": {"says": "None"}},
    {"id": "least", "input": "cheapest"},
    {"id": "page", "input": "read the page", "reference": "Open."},
    {"id": "hello", "input": "hello"},
    {"id": "broken", "input": "boom"},
]
