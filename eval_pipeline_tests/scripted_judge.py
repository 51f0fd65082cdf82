"""A scripted judge in a provider's place: answers by the schema it is asked for, and counts its calls."""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult

from eval_pipeline.judges import Judge, JudgeCalls
from eval_pipeline.model_settings import ModelSettings
from eval_pipeline.recordings import Mode, Recordings, scope
from eval_pipeline_tests.scripted import ScriptedConnector, docs_reply

JUDGE = ModelSettings(name="openai:judge", settings={"temperature": 0.4, "seed": 7})


@dataclass(frozen=True)
class Question:
    """What the judge is asked: DeepEval's name of the reply's schema, the prompt, and the verdicts wanted."""

    kind: str
    prompt: str
    items: int | None

    @property
    def mark(self) -> str:
        """The last `mark-…` in the prompt, by which a test knows its case; else its tail."""
        return (re.findall(r"mark-\d+", self.prompt) or [self.tail])[-1]

    @property
    def tail(self) -> str:
        """The last line of what was put into the template, cut."""
        lines = [line.strip() for line in self.prompt.splitlines()]
        return [line for line in lines if line and line != "JSON:"][-1][:60]


JudgeReply = Callable[[Question], str]


def approve(question: Question) -> str:
    """One truth, claim and statement, every verdict yes, ten of ten; the reason names the case's mark."""
    return reply(question, ["yes"] * (question.items or 0))


def reply(question: Question, verdicts: list[str], score: float = 10) -> str:
    """A well-formed reply to any of the judge's questions."""
    about = f"about {question.mark}"
    data: dict[str, Any] = {
        "Truths": {"truths": [about]},
        "Claims": {"claims": [about]},
        "Statements": {"statements": [about]},
        "Verdicts": {"verdicts": [{"verdict": word, "reason": about} for word in verdicts]},
        "ReasonScore": {"reason": about, "score": score},
    }.get(question.kind, {"reason": about})
    return json.dumps(data)


def saying(**replies: str | Callable[[Question], str]) -> JudgeReply:
    """A judge that approves, but for the kinds of question given here."""

    def answer(question: Question) -> str:
        said = replies.get(question.kind, approve)
        return said if isinstance(said, str) else said(question)

    return answer


class ScriptedJudge(BaseChatModel):
    answer: Any
    """A `JudgeReply`; it may raise, or give an AIMessage."""
    asked: Any
    settings: Any
    delay: float = 0.0

    @property
    def _llm_type(self) -> str:
        return "scripted-judge"

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        raise NotImplementedError

    async def _agenerate(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **options: Any
    ) -> ChatResult:
        schema = options["response_format"]["json_schema"]
        verdicts = schema["schema"]["properties"].get("verdicts", {})
        question = Question(schema["name"], messages[-1].text, verdicts.get("minItems"))
        self.asked.append((self.settings, question))
        if self.delay:
            await asyncio.sleep(random.uniform(0, self.delay))
        said = self.answer(question)
        message = said if isinstance(said, AIMessage) else AIMessage(said)
        return ChatResult(generations=[ChatGeneration(message=message)])


class JudgedConnector(ScriptedConnector):
    """Hands out a scripted judge to those who ask for a model named so; `judged` holds what it was asked."""

    def __init__(self, judge: JudgeReply = approve, agent: Any = docs_reply, delay: float = 0.0) -> None:
        super().__init__(agent)
        self.judge = judge
        self.delay = delay
        self.judged: list[tuple[ModelSettings, Question]] = []

    def chat(self, settings: ModelSettings) -> BaseChatModel:
        if "judge" not in settings.name:
            return super().chat(settings)
        return ScriptedJudge(answer=self.judge, asked=self.judged, settings=settings, delay=self.delay)

    @property
    def kinds(self) -> list[str]:
        """The kinds of question the judge was asked, in order."""
        return [question.kind for _, question in self.judged]


@contextlib.contextmanager
def judging(
    folder: Path, connector: JudgedConnector | None = None, mode: Mode = "new_episodes"
) -> Iterator[JudgeCalls]:
    """A judge to score with, its recordings below `folder`, inside the scope of one case."""
    recordings = Recordings(folder, mode)
    with scope("c", "judge", label="metric"):
        yield JudgeCalls(Judge(JUDGE, "0" * 64), recordings, connector or JudgedConnector())
    recordings.close()
