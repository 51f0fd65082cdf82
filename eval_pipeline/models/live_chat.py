"""Asks a chat model over the network, for the recording around it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage

from eval_pipeline.errors import CallFailed
from eval_pipeline.model_settings import ModelSettings
from eval_pipeline.models.connection import Connector
from eval_pipeline.models.messages import refuse_unusable
from eval_pipeline.models.remedies import remedy
from eval_pipeline.models.run_calls import RunCalls
from eval_pipeline.models.structured_output import client_options
from eval_pipeline.recordings.credentials import without_credentials

BINDINGS_KEPT = 100
"""More come about only where somebody makes the same tools or schema anew for each call."""


class LiveChat:
    """One chat model's client, made on the first ask and kept, with all that it is bound to."""

    def __init__(self, settings: ModelSettings, connector: Connector, calls: RunCalls) -> None:
        self._settings = settings
        self._connector = connector
        self._calls = calls.of(settings)
        self._client: BaseChatModel | None = None
        self._bound: dict[Any, tuple[Any, dict[str, Any]]] = {}

    async def ask(
        self,
        messages: list[BaseMessage],
        *,
        tools: Sequence[dict[str, Any]] = (),
        schema: dict[str, Any] | None = None,
        stop: list[str] | None = None,
        options: dict[str, Any],
    ) -> AIMessage:
        """One usable reply.

        Args:
            messages: the conversation.
            tools: the tools that the model may call, in OpenAI's form.
            schema: JSON schema that the reply must fit.
            stop: what ends the reply.
            options: what else the client is bound to, such as `tool_choice`.

        Raises:
            CallFailed: when the model answers, but nothing usable.
            ProviderFault: when no answer could be had.
        """
        if self._client is None:
            self._client = self._connector.chat(self._settings)
        client = self._client
        bound = self._options(client, tools, schema, options)
        reply = await self._calls.call(lambda: _generate(client, messages, stop, bound))
        with naming_model(self._settings):
            refuse_unusable(reply)
        return reply

    def _options(
        self,
        client: BaseChatModel,
        tools: Sequence[dict[str, Any]],
        schema: dict[str, Any] | None,
        options: dict[str, Any],
    ) -> dict[str, Any]:
        """What the client is called with; worked out once for the same tools, schema and options."""
        key = (tuple(map(id, tools)), id(schema), repr(sorted(options.items())))
        if key not in self._bound:
            bound = dict(options)
            if tools:
                # The binding's arguments alone: its layers would take as long as the rest of our work.
                bound = dict(getattr(client.bind_tools(list(tools), **options), "kwargs", {}))
            if schema:
                bound |= client_options(self._settings.name, schema)
            if len(self._bound) >= BINDINGS_KEPT:
                self._bound.clear()
            self._bound[key] = ((tools, schema), bound)  # kept, so that no other tools get their ids
        return self._bound[key][1]


@contextlib.contextmanager
def naming_model(settings: ModelSettings) -> Iterator[None]:
    """Say of a reply that turns out unusable whose it is, and what to do."""
    try:
        yield
    except CallFailed as failure:
        text = f"{settings.name}: {failure.message}; {remedy(failure.kind, settings)}"
        raise CallFailed(failure.kind, without_credentials(text)) from None


async def _generate(
    client: BaseChatModel, messages: list[BaseMessage], stop: list[str] | None, options: dict[str, Any]
) -> AIMessage:
    """One attempt, through the method that every LangChain chat model implements.

    `ainvoke` wraps it in callbacks, a cache and streaming; the recording chat model has been through those,
    and a cache below a recording would answer what must be asked.

    Raises:
        CallFailed: when the reply is no message.
        ConnectionError: when the reply broke off unnoticed.
    """
    result = await client._agenerate(messages, stop=stop, **options)
    if not result.generations:
        return AIMessage("")  # not one choice: an empty answer
    generation = result.generations[0]
    message = generation.message
    if not isinstance(message, AIMessage):
        raise CallFailed("malformed_reply", f"{type(message).__name__} instead of a message")
    message.response_metadata = {
        **(result.llm_output or {}),
        **(generation.generation_info or {}),
        **message.response_metadata,
    }
    if client._llm_type == "chat-ollama" and not message.response_metadata.get("done"):
        raise ConnectionError("the stream ended before its last part")
    return message
