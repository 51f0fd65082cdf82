"""LangChain messages as a recording sees them: parts to hash, plain JSON to store, ids made equal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage

from eval_pipeline.content_hash import content_hash
from eval_pipeline.errors import CallFailed
from eval_pipeline.json_data import unusable_in

VOLATILE_BLOCK_KEYS = frozenset({"id", "signature", "thought_signature", "extras", "index"})
TOOL_CALL_BLOCKS = frozenset({"tool_use", "tool_call", "function_call", "function_call_signature"})
KEPT_METADATA = ("finish_reason", "done_reason", "model_provider")
"""Not the model's name as the server gives it: local servers put a path of their machine there."""
FINISHED = frozenset({"stop", "tool_calls", "function_call", "STOP", None})
STOPPED_BY = {
    "length": "truncated",
    "max_tokens": "truncated",
    "malformed_function_call": "malformed_call",
    "unexpected_tool_call": "malformed_call",
    "too_many_tool_calls": "malformed_call",
}
"""Kinds of failure by the provider's word for what ended the reply; every other word is a block."""


def message_parts(messages: Sequence[BaseMessage]) -> dict[str, str]:
    """Each message's hash under a label a person understands, in order."""
    parts: dict[str, str] = {}
    questions = sum(isinstance(message, HumanMessage) for message in messages)
    seen: dict[str, int] = {}

    def nth(kind: str) -> int:
        seen[kind] = seen.get(kind, 0) + 1
        return seen[kind]

    for message in messages:
        content = _plain_content(message.content)
        if isinstance(message, SystemMessage):
            n = nth("prompt")
            parts["prompt" if n == 1 else f"prompt ({n})"] = content_hash(content)
        elif isinstance(message, HumanMessage):
            n = nth("question")
            parts["question" if questions == 1 else f"question of turn {n}"] = content_hash(content)
        elif isinstance(message, AIMessage):
            calls = [[call["name"], call["args"]] for call in message.tool_calls]
            parts[f"model reply {nth('reply')}"] = content_hash([content or "", calls])
        elif isinstance(message, ToolMessage):
            n = nth(f"tool {message.name}")
            label = f"result of tool {message.name}" + ("" if n == 1 else f" (call {n})")
            parts[label] = content_hash([message.status, content])
        else:
            parts[f"{message.type} message {nth(message.type)}"] = content_hash(content)
    return parts


def _plain_content(content: Any) -> Any:
    """Text where the content is text alone; without tool calls (hashed apart) and volatile ids."""
    if isinstance(content, str):
        return content
    plain: list[Any] = []
    for block in content:
        if isinstance(block, str):
            plain.append(block)
        elif block.get("type") == "text":
            plain.append(block["text"])
        elif block.get("type") not in TOOL_CALL_BLOCKS:
            plain.append({key: value for key, value in block.items() if key not in VOLATILE_BLOCK_KEYS})
    if all(isinstance(block, str) for block in plain):
        return "".join(plain)
    return plain


def refuse_unusable(message: AIMessage) -> None:
    """Refuse a reply that is no answer.

    Raises:
        CallFailed: for a blocked, truncated, malformed or empty reply, whatever the provider calls it.
    """
    metadata = message.response_metadata
    reason = metadata.get("finish_reason") or metadata.get("done_reason")
    if reason not in FINISHED:
        raise CallFailed(STOPPED_BY.get(str(reason).lower(), "blocked"), f"the model stopped with {reason!r}")
    if refusal := message.additional_kwargs.get("refusal"):
        raise CallFailed("refused", f"the model refused: {refusal}")
    feedback = metadata.get("prompt_feedback") or {}
    if blocked := feedback.get("block_reason"):
        raise CallFailed("blocked", f"the prompt was blocked with {str(blocked).rpartition('.')[2]!r}")
    if message.invalid_tool_calls:
        call = message.invalid_tool_calls[0]
        raise CallFailed(
            "malformed_call", f"tool call {call['name']!r} has unreadable arguments: {call['args']!r}"
        )
    for made in message.tool_calls:
        if unusable := unusable_in(made["args"]):
            text = f"tool call {made['name']!r} has unusable arguments: {unusable}"
            raise CallFailed("malformed_call", text)
    if not message.tool_calls and not message.text.strip():
        raise CallFailed("empty_answer", "the model answered nothing")


def dump_reply(message: AIMessage, earlier_calls: int) -> dict[str, Any]:
    """A reply as plain JSON: `content`, `usage`, `metadata`, and tool calls with counted ids.

    Providers draw tool-call ids at random; `call00001`, `call00002` … make live and replay equal. Nine
    characters, because some OpenAI-compatible servers insist on that.
    """
    ids = {call["id"]: f"call{earlier_calls + n:05d}" for n, call in enumerate(message.tool_calls, 1)}
    extra = {
        key: value
        for key, value in message.additional_kwargs.items()
        if key not in ("tool_calls", "function_call") and value is not None
    }
    reply: dict[str, Any] = {
        "content": _with_ids(message.content, ids),
        "usage": _usage(message),
        "metadata": {
            key: message.response_metadata[key] for key in KEPT_METADATA if key in message.response_metadata
        },
    }
    if message.tool_calls:
        reply["tool_calls"] = [
            {"name": call["name"], "args": call["args"], "id": ids[call["id"]]} for call in message.tool_calls
        ]
    if extra:
        reply["extra"] = _with_ids(extra, ids)
    return reply


def load_reply(reply: dict[str, Any]) -> AIMessage:
    """The message that `dump_reply` stored."""
    usage = reply.get("usage")
    return AIMessage(
        content=reply["content"],
        tool_calls=[{**call, "type": "tool_call"} for call in reply.get("tool_calls", ())],
        usage_metadata=usage and {**usage, "total_tokens": usage["input_tokens"] + usage["output_tokens"]},
        response_metadata=dict(reply.get("metadata", {})),
        additional_kwargs=dict(reply.get("extra", {})),
    )


def _usage(message: AIMessage) -> dict[str, int] | None:
    usage = message.usage_metadata
    if usage is None:
        return None
    return {"input_tokens": usage["input_tokens"], "output_tokens": usage["output_tokens"]}


def _with_ids(value: Any, ids: dict[str | None, str]) -> Any:
    if isinstance(value, str):
        return ids.get(value, value)
    if isinstance(value, dict):
        return {ids.get(key, key): _with_ids(item, ids) for key, item in value.items()}
    if isinstance(value, list):
        return [_with_ids(item, ids) for item in value]
    return value
