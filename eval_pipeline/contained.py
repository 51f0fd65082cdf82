"""Runs a system's coroutine so that it ends at most itself, and no event loop or process."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from eval_pipeline.failure_text import failure_text

Result = TypeVar("Result")


class BrokeOff(Exception):
    """The code cancelled itself, or raised what is no `Exception`, such as `SystemExit`; says which."""


async def contained(work: Coroutine[Any, Any, Result]) -> Result:
    """The result of `work`, in a task of its own, so that its cancelling itself is not ours being cancelled.

    Raises:
        BrokeOff: when it cancelled itself, or raised what would end the process.
        Exception: whatever else it raised.
    """
    task = asyncio.create_task(_without_exits(work))
    try:
        return await task
    except asyncio.CancelledError:
        if (own := asyncio.current_task()) is None or own.cancelling():
            raise
        raise BrokeOff("CancelledError: the system cancelled itself") from None


async def _without_exits(work: Coroutine[Any, Any, Result]) -> Result:
    # Here, as the event loop itself is ended by what a task lets through.
    try:
        return await work
    except (Exception, asyncio.CancelledError, KeyboardInterrupt):
        raise
    except BaseException as failure:
        raise BrokeOff(failure_text(failure)) from None
