"""The time that waits go by: the process's own, or one that tests turn by hand."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Clock:
    """Seconds that only ever grow, and two ways to wait for some of them."""

    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    sleep_blocking: Callable[[float], None] = time.sleep
