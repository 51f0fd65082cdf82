"""Short ways to ask, to answer and to write recordings by hand."""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from eval_pipeline.content_hash import content_hash
from eval_pipeline.recordings import Recordings, Request, scope

MODEL = "fake:one"
KEY = "ab" * 32
ID = f"{KEY}:0.0:0"


def question(words: str, model: str = MODEL, prompt: str = "Be brief.", **more: str) -> Request:
    """A chat request whose parts are a prompt, the question, and further labels with their content."""
    contents = {"prompt": prompt, "question": words, **more}
    return Request(
        "chat", model, {label: content_hash(text) for label, text in contents.items()}, words=words
    )


def embedding(text: str, model: str = MODEL) -> Request:
    return Request("embed", model, {"text": content_hash(text)}, words=text)


class Model:
    """Answers each call with the next reply, or raises it; without replies numbers its answers."""

    def __init__(self, *replies: Any) -> None:
        self.replies = list(replies)
        self.calls = 0

    def sync(self) -> dict[str, Any]:
        self.calls += 1
        if not self.replies:
            return {"text": f"answer {self.calls}"}
        reply = self.replies.pop(0)
        if isinstance(reply, BaseException):
            raise reply
        return reply

    async def __call__(self) -> dict[str, Any]:
        await asyncio.sleep(0)
        return self.sync()


def ask(store: Recordings, request: Request, live: Any, case: str = "case-1", **where: Any) -> dict[str, Any]:
    """Ask once, in a run of its own."""

    async def run() -> dict[str, Any]:
        with scope(case, **where):
            return await store.ask(request, live)

    return asyncio.run(run())


def record(folder: Path, *requests: Request, case: str = "case-1", **where: Any) -> None:
    """Record an answer to each request, numbered from 1, and fold them."""
    store = Recordings(folder, "new_episodes")
    live = Model()
    for request in requests:
        ask(store, request, live, case, **where)
    assert store.close() == frozenset()


def stored(**changes: Any) -> dict[str, Any]:
    """The fields of a line as they are stored; a change to None means null, to `...` no such field."""
    fields = {
        "at": "2026-01-31T12:00:00Z",
        "cases": ["case-1"],
        "id": ID,
        "kind": "chat",
        "label": "",
        "latency_ms": 12,
        "model": MODEL,
        "parts": [["prompt", "a7990e4dc62c"], ["question", "573cd471224c"]],
        "response": {"text": "yes"},
        "role": "agent",
        "usage": {"input_tokens": 3, "output_tokens": 1},
        "v": 1,
        "versions": {"python": "3.11.7"},
        "words": "is it?",
    }
    return {name: value for name, value in (fields | changes).items() if value is not ...}


def line(**changes: Any) -> bytes:
    return json.dumps(stored(**changes), sort_keys=True).encode()


def entry_id(number: int) -> str:
    return f"{number:064x}:0.0:0"


def write_lines(path: Path, *lines: bytes) -> Path:
    """A file with each line ended."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(one + b"\n" for one in lines))
    return path


def files(folder: Path) -> list[str]:
    """What lies under `folder`, without the locks."""
    return sorted(
        str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file() and path.name != ".lock"
    )


CALLS = "fake-one/calls.jsonl"


def recording(folder: Path, **options: Any) -> Recordings:
    return Recordings(folder, "new_episodes", **options)


def in_scope(work: Callable[[], Any], case: str = "case-1", **where: Any) -> Any:
    with scope(case, **where):
        return work()


class Slow:
    """Answers once it is released."""

    def __init__(self, fault: Exception | None = None) -> None:
        self.calls = 0
        self.fault = fault
        self.started = asyncio.Event()
        self.release = asyncio.Event()

    async def __call__(self) -> dict[str, Any]:
        self.calls += 1
        self.started.set()
        await self.release.wait()
        if self.fault is not None:
            raise self.fault
        return {"text": f"answer {self.calls}"}


async def asked_by(store: Recordings, case: str, request: Request, live: Any) -> tuple[dict, int, int]:
    with scope(case) as opened:
        response = await store.ask(request, live)
    return response, opened.calls, opened.called
