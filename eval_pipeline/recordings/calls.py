"""Makes one live call: timed, and with a terminal failure as the response that stands for it."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from eval_pipeline.errors import CallFailed
from eval_pipeline.recordings.entry import describe_failure

Response = dict[str, Any]


_BEGAN: ContextVar[list[float] | None] = ContextVar("began", default=None)
"""When the call that is being made began, as its one item."""


def begin_attempt() -> None:
    """Count the time of the call that is being made from now on: until now it waited for its turn."""
    if (began := _BEGAN.get()) is not None:
        began[0] = time.perf_counter()


async def make_call(live: Callable[[], Awaitable[Response]]) -> tuple[Response, float]:
    """The response of `live` and the milliseconds its last attempt took; raises what else it raises."""
    with _timed() as began:
        try:
            response = await live()
        except CallFailed as failure:
            response = describe_failure(failure)
        return response, _milliseconds_since(began[0])


def make_call_sync(live: Callable[[], Response]) -> tuple[Response, float]:
    """As `make_call`, without awaiting."""
    with _timed() as began:
        try:
            response = live()
        except CallFailed as failure:
            response = describe_failure(failure)
        return response, _milliseconds_since(began[0])


@contextmanager
def _timed() -> Iterator[list[float]]:
    began = [time.perf_counter()]
    token = _BEGAN.set(began)
    try:
        yield began
    finally:
        _BEGAN.reset(token)


def _milliseconds_since(started: float) -> float:
    return (time.perf_counter() - started) * 1000
