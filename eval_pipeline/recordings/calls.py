"""Makes one live call: timed, and with a terminal failure as the response that stands for it."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from typing import Any

from eval_pipeline.errors import CallFailed
from eval_pipeline.recordings.entry import describe_failure

Response = dict[str, Any]


async def make_call(live: Callable[[], Awaitable[Response]]) -> tuple[Response, float]:
    """The response of `live` and the milliseconds it took; raises what else it raises."""
    started = time.perf_counter()
    try:
        response = await live()
    except CallFailed as failure:
        response = describe_failure(failure)
    return response, _milliseconds_since(started)


def make_call_sync(live: Callable[[], Response]) -> tuple[Response, float]:
    """As `make_call`, without awaiting."""
    started = time.perf_counter()
    try:
        response = live()
    except CallFailed as failure:
        response = describe_failure(failure)
    return response, _milliseconds_since(started)


def _milliseconds_since(started: float) -> float:
    return (time.perf_counter() - started) * 1000
