"""A chat model's question as a recording sees it: the hashes of everything that the model is given."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from langchain_core.messages import BaseMessage

from eval_pipeline.content_hash import content_hash
from eval_pipeline.model_settings import ModelSettings
from eval_pipeline.models.messages import message_parts
from eval_pipeline.recordings import Request
from eval_pipeline.recordings.request import TOOL_SCHEMA


@dataclass(frozen=True)
class ChatCall:
    """What one call asks."""

    messages: list[BaseMessage]
    tools: Sequence[dict[str, Any]] = ()
    """In OpenAI's form."""
    stop: list[str] | None = None
    options: dict[str, Any] = field(default_factory=dict)
    """Such as `tool_choice` and `response_schema`."""


class ChatRequests:
    """Makes the requests of one model in one repeat; what they share is hashed once."""

    def __init__(self, settings: ModelSettings, repeat: int = 0) -> None:
        self._model = settings.name
        self._server = settings.base_url
        self._tool_hashes: dict[int, tuple[Any, str]] = {}
        self._own = {"parameters": content_hash(settings.in_repeat(repeat).settings)}
        self._first_repeat = {"parameters": content_hash(settings.settings)} if repeat else {}
        if settings.weights:
            self._own["weights"] = content_hash(settings.weights)
        if settings.tool_calling != "native":
            self._own["tool calling"] = content_hash(settings.tool_calling)

    def of(self, call: ChatCall, rendered: str | None = None) -> Request:
        """The request of a call; `rendered` is the hash of what is sent where that is another text."""
        parts = {**self._own, **message_parts(call.messages)}
        for tool in call.tools:
            parts[f"{TOOL_SCHEMA}{tool['function']['name']}"] = self._tool_hash(tool)
        for name, value in call.options.items():
            parts[name.replace("_", " ")] = content_hash(value)
        if call.stop:
            parts["stop"] = content_hash(call.stop)
        if rendered:
            parts["rendering of tool calls"] = rendered
        return Request(
            kind="chat",
            model=self._model,
            parts=parts,
            first_repeat=self._first_repeat,
            covered=frozenset({"rendering of tool calls"}),
            words=call.messages[-1].text,
            server=self._server,
        )

    def _tool_hash(self, tool: dict[str, Any]) -> str:
        if id(tool) not in self._tool_hashes:
            self._tool_hashes[id(tool)] = (tool, content_hash(tool))
        return self._tool_hashes[id(tool)][1]
