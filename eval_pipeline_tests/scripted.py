"""A scripted model in a provider's place: answers by rule, counts its calls, and is no model's words."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from typing import Any

from langchain_core.embeddings import Embeddings
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatResult

from eval_pipeline.model_settings import EmbedderSettings, ModelSettings

Reply = Callable[[list[BaseMessage]], AIMessage]
"""What the scripted model says to a conversation; it may raise."""


def call(name: str, arguments: dict[str, Any], id: str = "random-1") -> AIMessage:
    return AIMessage("", tool_calls=[{"name": name, "args": arguments, "id": id, "type": "tool_call"}])


def docs_reply(messages: list[BaseMessage]) -> AIMessage:
    """Looks a numbered issue up, searches for any other question, then repeats the first line found."""
    question = next(m for m in messages if isinstance(m, HumanMessage)).text
    results = [m for m in messages if isinstance(m, ToolMessage)]
    if results:
        return AIMessage(f"As the tool says: {results[0].text.splitlines()[0]}")
    if number := re.search(r"issue (\d+)", question):
        return call("get_issue", {"number": int(number[1])})
    if "?" in question:
        return call("search_docs", {"query": question})
    return AIMessage("You are welcome!")


class ScriptedChatModel(BaseChatModel):
    reply: Any
    """A `Reply`; `asked` collects the conversations."""
    asked: Any

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Sequence[Any], **options: Any) -> Any:
        return self

    def _generate(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **options: Any
    ) -> ChatResult:
        self.asked.append(messages)
        return ChatResult(generations=[ChatGeneration(message=self.reply(messages))])

    async def _agenerate(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **options: Any
    ) -> ChatResult:
        return self._generate(messages)


class WordEmbeddings(Embeddings):
    """Vectors that count words into 64 places: texts that share words are close."""

    def __init__(self, asked: list[str]) -> None:
        self.asked = asked

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [self.embed_query(text) for text in texts]

    def embed_query(self, text: str) -> list[float]:
        self.asked.append(text)
        vector = [0.0] * 64
        for word in re.findall(r"[a-z]{3,}", text.lower()):
            vector[sum(map(ord, word)) % 64] += 1.0
        length = math.sqrt(sum(x * x for x in vector)) or 1.0
        return [x / length for x in vector]


class ScriptedConnector:
    """Hands out scripted clients; `chats` and `embedded` hold what they were asked."""

    def __init__(self, reply: Reply = docs_reply) -> None:
        self.reply = reply
        self.chats: list[list[BaseMessage]] = []
        self.embedded: list[str] = []
        self.made = 0

    def chat(self, settings: ModelSettings) -> BaseChatModel:
        self.made += 1
        return ScriptedChatModel(reply=self.reply, asked=self.chats)

    def embeddings(self, settings: EmbedderSettings) -> Embeddings:
        self.made += 1
        return WordEmbeddings(self.embedded)
