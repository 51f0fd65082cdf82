"""A model provider on 127.0.0.1 for tests: real sockets, scripted replies, latency and faults.

    with ProviderStub() as stub:
        stub.script(Status(429, retry_after=2), Say("Hello."))
        settings = ModelSettings(name="openai:m", base_url=stub.base_url("openai"))
        ...
    assert len(stub.asked) == 2

It speaks Gemini's, Ollama's and OpenAI's protocol, for chat and embeddings, at the same address.
"""

from __future__ import annotations

import asyncio
import json
import re
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

from eval_pipeline_tests.provider_replies import (
    Close,
    Drop,
    Empty,
    Hang,
    Message,
    Protocol,
    Raw,
    Reply,
    Say,
    Status,
    chat_body,
    embed_body,
    error_body,
)

ROUTES: tuple[tuple[Protocol, str, re.Pattern[str]], ...] = (
    ("google", "chat", re.compile(r"/v1(?:beta)?/models/(?P<model>[^/:]+):generateContent")),
    (
        "google",
        "embed",
        re.compile(r"/v1(?:beta)?/models/(?P<model>[^/:]+):(?:batchEmbedContents|embedContent)"),
    ),
    ("ollama", "chat", re.compile(r"/api/chat")),
    ("ollama", "embed", re.compile(r"/api/embed")),
    ("openai", "chat", re.compile(r"/v1/chat/completions")),
    ("openai", "embed", re.compile(r"/v1/embeddings")),
)


@dataclass(frozen=True)
class Asked:
    """One request that reached the stub."""

    protocol: Protocol
    kind: str
    """`chat` or `embed`."""
    path: str
    model: str
    headers: dict[str, str]
    """By lower-case name."""
    body: dict[str, Any]

    @cached_property
    def texts(self) -> list[str]:
        """The texts to embed."""
        if self.protocol == "google":
            requests = self.body.get("requests") or [self.body]
            return ["".join(part["text"] for part in one["content"]["parts"]) for one in requests]
        given = self.body["input"]
        return [given] if isinstance(given, str) else given

    @cached_property
    def question(self) -> str:
        """The last message of the user."""
        if self.protocol == "google":
            said = [turn["parts"] for turn in self.body["contents"] if turn.get("role") == "user"]
            texts = ["".join(part.get("text", "") for part in parts) for parts in said]
            return next(text for text in reversed(texts) if text)
        said = [turn["content"] for turn in self.body["messages"] if turn["role"] == "user"]
        return said[-1] if isinstance(said[-1], str) else "".join(block["text"] for block in said[-1])


def vector_of(text: str) -> list[float]:
    """The vector that the stub has for a text: its length, its vowels and its words."""
    return [float(len(text)), float(sum(text.count(vowel) for vowel in "aeiou")), float(len(text.split()))]


class ProviderStub:
    """A running server; a context manager.

    Scripted replies go first, one a request and in order; then `answer` decides.
    """

    def __init__(self, answer: Callable[[Asked], Reply] = lambda asked: Say("ok"), *, latency_s: float = 0.0):
        """`latency_s` passes before every answer; it may be set anew at any time."""
        self.answer = answer
        self.latency_s = latency_s
        self.asked: list[Asked] = []
        """Every request, in the order they came."""
        self.in_flight = 0
        self.most_in_flight = 0
        self.port = 0
        self._script: deque[Reply] = deque()
        self._first = (answer, latency_s)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._listening = threading.Event()
        self._failures: list[Exception] = []

    def script(self, *replies: Reply) -> None:
        """Queue replies for the next requests, whatever they ask."""
        self._script.extend(replies)

    def reset(self) -> None:
        """Forget what was asked and scripted; the address and its connections stay."""
        self.answer, self.latency_s = self._first
        self.asked.clear()
        self.most_in_flight = 0
        self._script.clear()

    @property
    def calls(self) -> int:
        """How many requests came."""
        return len(self.asked)

    @property
    def url(self) -> str:
        """The address without a path."""
        return f"http://127.0.0.1:{self.port}"

    def base_url(self, protocol: Protocol) -> str:
        """The address as a client of the protocol wants it."""
        return f"{self.url}/v1" if protocol == "openai" else self.url

    def __enter__(self) -> Self:
        self._thread.start()
        self._listening.wait(10)
        return self

    def __exit__(self, *exception: object) -> None:
        self.stop()

    def stop(self) -> None:
        """Close every connection and refuse new ones; stopping twice does no harm.

        Raises:
            Exception: what `answer` raised, or what could not be worded in the protocol asked for.
        """
        if self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
        if self._failures:
            raise self._failures.pop()

    def _run(self) -> None:
        server = self._loop.run_until_complete(
            asyncio.start_server(self._connected, "127.0.0.1", 0, backlog=1024)
        )
        self.port = server.sockets[0].getsockname()[1]
        self._listening.set()
        self._loop.run_forever()
        server.close()
        left = asyncio.all_tasks(self._loop)  # connections, and those just being accepted
        for task in left:
            task.cancel()
        if left:  # without one, `gather` looks for a loop that this thread has not
            self._loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
        self._loop.close()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while await self._serve_one(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass  # the client left, or the stub stops
        except Exception as failure:
            self._failures.append(failure)
        finally:
            writer.close()

    async def _serve_one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Answer one request; whether the connection stays open."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        request_line, *lines = head.split("\r\n")
        headers = {
            name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines if line)
        }
        body = await reader.readexactly(int(headers.get("content-length", 0)))
        asked = _read(request_line.split()[1], headers, body)
        if asked is None:
            _write(writer, Message(b'{"error": "the stub has no such path"}', 404))
            return True
        self.asked.append(asked)
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        try:
            if self.latency_s:
                await asyncio.sleep(self.latency_s)
            reply = self._script.popleft() if self._script else self.answer(asked)
            if isinstance(reply, Close):
                return False
            if isinstance(reply, Hang):
                await reader.read(1)  # b"" once the client has left
                return False
            message = _message(asked, reply)
        finally:
            self.in_flight -= 1
        _write(writer, message, dropped=isinstance(reply, Drop))
        await writer.drain()
        return not isinstance(reply, Drop)


def _read(target: str, headers: dict[str, str], body: bytes) -> Asked | None:
    path = target.partition("?")[0]
    for protocol, kind, pattern in ROUTES:
        if found := pattern.fullmatch(path):
            fields = json.loads(body)
            model = found.groupdict().get("model") or fields["model"]
            return Asked(protocol, kind, path, model, headers, fields)
    return None


def _message(asked: Asked, reply: Reply) -> Message:
    if isinstance(reply, Raw):
        return Message(reply.body, reply.status, reply.content_type)
    if isinstance(reply, Status):
        return error_body(asked.protocol, reply)
    if asked.kind == "embed":
        vectors = [] if isinstance(reply, Empty) else [vector_of(text) for text in asked.texts]
        return embed_body(asked.protocol, vectors, single=asked.path.endswith(":embedContent"))
    return chat_body(
        asked.protocol, asked.model, reply if isinstance(reply, (Say, Empty)) else Say("cut off")
    )


def _write(writer: asyncio.StreamWriter, message: Message, *, dropped: bool = False) -> None:
    fields = {
        "Content-Type": message.content_type,
        "Content-Length": str(len(message.body)),
        **message.headers,
    }
    lines = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    body = message.body[: len(message.body) // 2] if dropped else message.body
    writer.write(f"HTTP/1.1 {message.status} Stub\r\n{lines}\r\n".encode() + body)
