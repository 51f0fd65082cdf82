"""A LangChain chat model that answers from the recording, and asks the real one only when it must."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable, RunnableLambda
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import Field, PrivateAttr

from eval_pipeline.content_hash import content_hash
from eval_pipeline.errors import CallFailed
from eval_pipeline.model_settings import ModelSettings
from eval_pipeline.models import tool_calling
from eval_pipeline.models.chat_request import ChatCall, ChatRequests
from eval_pipeline.models.live_chat import LiveChat, naming_model
from eval_pipeline.models.messages import dump_reply, load_reply
from eval_pipeline.models.run_calls import RunCalls
from eval_pipeline.models.structured_output import read_strictly, schema_of
from eval_pipeline.recordings import current_scope
from eval_pipeline.recordings.credentials import without_secrets


class RecordingChatModel(BaseChatModel):
    """Stands where a provider's chat model would, tool binding included. Async only."""

    model_settings: ModelSettings
    recordings: Any
    """The suite's `Recordings`."""
    connector: Any
    """The `Connector` that makes the real client, on the first live call."""
    calls: Any = Field(default_factory=RunCalls)
    """The run's `RunCalls`."""

    _repeats: dict[int, tuple[ChatRequests, LiveChat]] = PrivateAttr(default_factory=dict)
    _bound: dict[Any, Any] = PrivateAttr(default_factory=dict)
    _converted: dict[int, tuple[Any, dict[str, Any]]] = PrivateAttr(default_factory=dict)
    _reply_schemas: dict[tuple[int, ...], dict[str, Any]] = PrivateAttr(default_factory=dict)

    @property
    def _llm_type(self) -> str:
        return "recording"

    def bind_tools(
        self, tools: Sequence[Any], *, tool_choice: str | None = None, **options: Any
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """The model with tools; the same tools give the same object, so that agents rebind for free."""
        key = (tuple(id(tool) for tool in tools), tool_choice, repr(sorted(options.items())))
        if key not in self._bound:
            bound = self.bind(
                tools=[self._openai_tool(tool) for tool in tools], tool_choice=tool_choice, **options
            )
            self._bound[key] = (list(tools), bound)  # the list keeps the ids in the key alive
        runnable: Runnable[LanguageModelInput, AIMessage] = self._bound[key][1]
        return runnable

    def with_structured_output(
        self, schema: dict[str, Any] | type, *, include_raw: bool = False, **options: Any
    ) -> Runnable[LanguageModelInput, Any]:
        """The model whose replies fit a pydantic model or JSON schema, read strictly: nothing is mended.

        With `include_raw` a reply that does not fit raises nothing: as LangChain has it, what comes is a dict
        of `raw` (the message), `parsed` (None where it does not fit) and `parsing_error` (else None).

        Raises:
            ValueError: with another method than `json_schema`.
        """
        if options.get("method", "json_schema") != "json_schema":
            raise ValueError(f"with_structured_output: {options} can't be recorded; leave `method` out")

        def read(message: AIMessage) -> Any:
            with naming_model(self.model_settings):
                return read_strictly(message, schema)

        def read_beside_raw(message: AIMessage) -> dict[str, Any]:
            try:
                return {"raw": message, "parsed": read(message), "parsing_error": None}
            except CallFailed as failure:
                return {"raw": message, "parsed": None, "parsing_error": failure}

        return self.bind(response_schema=schema_of(schema)) | RunnableLambda(
            read_beside_raw if include_raw else read
        )

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **options: Any,
    ) -> ChatResult:
        options.pop("ls_structured_output_format", None)
        tools = options.pop("tools", None) or []
        call = ChatCall(messages, tools, stop, {k: v for k, v in options.items() if v is not None})
        if tools and self.model_settings.tool_calling == "json_schema":
            message = await self._call_in_json(call)
        else:
            message = await self._call_natively(call)
        return ChatResult(generations=[ChatGeneration(message=message)])

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **options: Any,
    ) -> ChatResult:
        raise NotImplementedError(
            "systems run in an event loop: call the model with `await model.ainvoke(…)`"
        )

    # LangChain asks for it before each call, and would have it worked out from the code every time.
    _agenerate.__signature__ = inspect.signature(_agenerate)  # type: ignore[attr-defined]

    async def _call_natively(self, call: ChatCall) -> AIMessage:
        requests, chat = self._of_this_repeat()

        async def live() -> dict[str, Any]:
            options = dict(call.options)
            schema = options.pop("response_schema", None)
            reply = await chat.ask(
                call.messages, tools=call.tools, schema=schema, stop=call.stop, options=options
            )
            return _recordable(reply, _calls_before(call.messages))

        return load_reply(await self.recordings.ask(requests.of(call), live))

    async def _call_in_json(self, call: ChatCall) -> AIMessage:
        """Tool calls by constrained output."""
        requests, chat = self._of_this_repeat()
        sent, schema = tool_calling.render(call.messages, call.tools)
        # The same tools give the same object, which the client is bound to once.
        schema = self._reply_schemas.setdefault(tuple(map(id, call.tools)), schema)
        rendered = content_hash([[m.type, m.content] for m in sent] + [schema])
        names = [tool["function"]["name"] for tool in call.tools]

        async def live() -> dict[str, Any]:
            reply = await chat.ask(sent, schema=schema, stop=call.stop, options=call.options)
            with naming_model(self.model_settings):
                tool_calling.parse(reply, names)  # an unusable reply is recorded as the failure it is
            return _recordable(reply, 0)

        reply = load_reply(await self.recordings.ask(requests.of(call, rendered), live))
        message = tool_calling.parse(reply, names)
        for tool_call in message.tool_calls:
            tool_call["id"] = f"call{_calls_before(call.messages) + 1:05d}"
        return message

    def _of_this_repeat(self) -> tuple[ChatRequests, LiveChat]:
        """What the calls of the current run's repeat share; no client is made before the first live one."""
        settings = self.model_settings
        repeat = current_scope().repeat
        if settings.in_repeat(repeat) is settings:
            repeat = 0
        if repeat not in self._repeats:
            chat = LiveChat(settings.in_repeat(repeat), self.connector, self.calls)
            self._repeats[repeat] = ChatRequests(settings, repeat), chat
        return self._repeats[repeat]

    def _openai_tool(self, tool: Any) -> dict[str, Any]:
        if id(tool) not in self._converted:
            self._converted[id(tool)] = (tool, convert_to_openai_tool(tool))
        return self._converted[id(tool)][1]


def _recordable(reply: AIMessage, earlier_calls: int) -> dict[str, Any]:
    recorded: dict[str, Any] = without_secrets(dump_reply(reply, earlier_calls))
    return recorded


def _calls_before(messages: list[BaseMessage]) -> int:
    return sum(len(message.tool_calls) for message in messages if isinstance(message, AIMessage))
