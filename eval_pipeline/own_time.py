"""Ends a run whose system neither answers nor asks a model: what it waits for may never come."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from eval_pipeline.recordings import Scope

LONGEST_S = 600.0
"""Seconds of own time, where the suite does not say."""


@asynccontextmanager
async def own_time(asked: Scope, seconds: float) -> AsyncIterator[asyncio.Timeout]:
    """Cancel the block once it took `seconds` since its last model answered, or since it began.

    Time in which it waits for a model does not count: that is bounded by the model's own `timeout_s` and
    retries, and in it a run may stand in line behind all the others. Code that blocks the event loop cannot
    be ended.

    Raises:
        TimeoutError: when that was too long; the block's `expired()` then says so.
    """
    loop = asyncio.get_running_loop()
    async with asyncio.timeout(None) as limit:
        timer = loop.call_later(seconds, lambda: check())

        def check() -> None:
            nonlocal timer
            left = seconds - asked.own_time_s()
            if left <= 0:
                limit.reschedule(loop.time())
            else:
                timer = loop.call_later(left, check)

        try:
            yield limit
        finally:
            timer.cancel()
