"""What a provider stub answers, written once and worded in each provider's own protocol."""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

Protocol = Literal["google", "ollama", "openai"]
Finish = Literal["stop", "truncated", "blocked", "refused", "malformed_call"]

JSON = "application/json"
FINISH_REASONS: Mapping[Protocol, Mapping[Finish, str]] = {
    "google": {
        "stop": "STOP",
        "truncated": "MAX_TOKENS",
        "blocked": "SAFETY",
        "refused": "PROHIBITED_CONTENT",
        "malformed_call": "MALFORMED_FUNCTION_CALL",
    },
    "ollama": {"stop": "stop", "truncated": "length"},  # it has no filter, and parses calls itself
    "openai": {
        "stop": "stop",
        "truncated": "length",
        "blocked": "content_filter",
        "refused": "stop",
        "malformed_call": "tool_calls",
    },
}

GOOGLE_STATUS = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
}


@dataclass(frozen=True)
class Say:
    """A chat reply: text, tool calls, or what stopped it."""

    text: str = ""
    calls: Sequence[tuple[str, Mapping[str, Any]]] = ()
    """Name and arguments of each tool call."""
    finish: Finish = "stop"
    tokens: tuple[int, int] = (12, 5)


@dataclass(frozen=True)
class Empty:
    """A reply without any candidate or choice; of Ollama, one without text."""


@dataclass(frozen=True)
class Status:
    """An HTTP error in the provider's own words."""

    code: int
    message: str = "the stub was told to fail"
    retry_after: float | None = None
    """Seconds, sent as `Retry-After`."""
    retry_delay: float | None = None
    """Seconds, sent in the error's details as Google does."""
    reason: str | None = None
    """Google's `ErrorInfo` reason, or OpenAI's error code."""


@dataclass(frozen=True)
class Raw:
    """Any body."""

    body: bytes
    content_type: str = JSON
    status: int = 200


@dataclass(frozen=True)
class Drop:
    """An ordinary reply of which half the body is sent before the connection is closed."""


@dataclass(frozen=True)
class Close:
    """The connection is closed without a word."""


@dataclass(frozen=True)
class Hang:
    """No answer until the client leaves."""


Reply = Say | Empty | Status | Raw | Drop | Close | Hang


@dataclass(frozen=True)
class Message:
    """One HTTP response to write."""

    body: bytes
    status: int = 200
    content_type: str = JSON
    headers: Mapping[str, str] = field(default_factory=dict)


def chat_body(protocol: Protocol, model: str, reply: Say | Empty) -> Message:
    """A chat reply in the provider's protocol; of Ollama as the lines of a stream."""
    if protocol == "google":
        return Message(_json(_google_chat(model, reply)))
    if protocol == "openai":
        return Message(_json(_openai_chat(model, reply)))
    lines = _ollama_chat(model, reply)
    return Message(b"".join(_json(line) + b"\n" for line in lines), content_type="application/x-ndjson")


def embed_body(protocol: Protocol, vectors: Sequence[Sequence[float]], *, single: bool) -> Message:
    """Vectors in the provider's protocol; `single` for Google's request of one text."""
    if protocol == "google":
        values = [{"values": list(vector)} for vector in vectors]
        return Message(_json({"embedding": values[0]} if single else {"embeddings": values}))
    if protocol == "ollama":
        return Message(_json({"model": "stub", "embeddings": [list(vector) for vector in vectors]}))
    data = [
        {"object": "embedding", "index": n, "embedding": list(vector)} for n, vector in enumerate(vectors)
    ]
    usage = {"prompt_tokens": 3, "total_tokens": 3}
    return Message(_json({"object": "list", "model": "stub", "data": data, "usage": usage}))


def error_body(protocol: Protocol, error: Status) -> Message:
    """An HTTP error in the provider's protocol."""
    headers = {} if error.retry_after is None else {"Retry-After": f"{error.retry_after:g}"}
    body: Any
    if protocol == "google":
        details = []
        if error.retry_delay is not None:
            retry = "type.googleapis.com/google.rpc.RetryInfo"
            details.append({"@type": retry, "retryDelay": f"{error.retry_delay:g}s"})
        if error.reason:
            details.append({"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": error.reason})
        body = {
            "error": {
                "code": error.code,
                "message": error.message,
                "status": GOOGLE_STATUS.get(error.code, "UNAVAILABLE"),
                "details": details,
            }
        }
    elif protocol == "openai":
        body = {"error": {"message": error.message, "type": "stub", "param": None, "code": error.reason}}
    else:
        body = {"error": error.message}
    return Message(_json(body), error.code, headers=headers)


def _google_chat(model: str, reply: Say | Empty) -> dict[str, Any]:
    usage = {"promptTokenCount": 12, "candidatesTokenCount": 5, "totalTokenCount": 17}
    if isinstance(reply, Empty):
        return {"candidates": [], "usageMetadata": usage, "modelVersion": model}
    parts: list[dict[str, Any]] = [{"text": reply.text}] if reply.text else []
    for name, arguments in reply.calls:
        # Gemini 3 signs its calls and wants the signature back with the conversation.
        parts.append({"functionCall": {"name": name, "args": arguments}, "thoughtSignature": "c2lnbmVk"})
    candidate: dict[str, Any] = {"finishReason": FINISH_REASONS["google"][reply.finish], "index": 0}
    if parts:
        candidate["content"] = {"role": "model", "parts": parts}
    given, said = reply.tokens
    usage = {"promptTokenCount": given, "candidatesTokenCount": said, "totalTokenCount": given + said}
    return {"candidates": [candidate], "usageMetadata": usage, "modelVersion": model}


def _openai_chat(model: str, reply: Say | Empty) -> dict[str, Any]:
    body: dict[str, Any] = {"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": model}
    if isinstance(reply, Empty):
        return {**body, "choices": []}
    message: dict[str, Any] = {"role": "assistant", "content": reply.text or None, "refusal": None}
    if reply.finish == "refused":
        message |= {"content": None, "refusal": reply.text}
    if reply.calls:
        message["tool_calls"] = [
            {
                "id": f"call_{uuid.uuid4().hex}",
                "type": "function",
                "function": {
                    "name": name,
                    "arguments": '{"cut o' if reply.finish == "malformed_call" else json.dumps(arguments),
                },
            }
            for name, arguments in reply.calls
        ]
    reason = "tool_calls" if reply.calls else FINISH_REASONS["openai"][reply.finish]
    given, said = reply.tokens
    usage = {"prompt_tokens": given, "completion_tokens": said, "total_tokens": given + said}
    return {**body, "choices": [{"index": 0, "message": message, "finish_reason": reason}], "usage": usage}


def _ollama_chat(model: str, reply: Say | Empty) -> list[dict[str, Any]]:
    start = {"model": model, "created_at": "2026-01-01T00:00:00Z"}
    say = Say() if isinstance(reply, Empty) else reply
    half = len(say.text) // 2
    chunks: list[dict[str, Any]] = [
        {"content": piece} for piece in (say.text[:half], say.text[half:]) if piece
    ]
    if say.calls:
        calls = [{"function": {"name": name, "arguments": arguments}} for name, arguments in say.calls]
        chunks.append({"content": "", "tool_calls": calls})
    lines = [{**start, "message": {"role": "assistant", **chunk}, "done": False} for chunk in chunks]
    given, said = say.tokens
    end = {"prompt_eval_count": given, "eval_count": said, "total_duration": 1}
    reason = FINISH_REASONS["ollama"][say.finish]
    last = {**start, "message": {"role": "assistant", "content": ""}, "done": True, "done_reason": reason}
    return [*lines, {**last, **end}]


def _json(value: Any) -> bytes:
    return json.dumps(value).encode()
