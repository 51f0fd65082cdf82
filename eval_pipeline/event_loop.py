"""One event loop per process: async HTTP clients are cached and die with the loop they were made in."""

from __future__ import annotations

import asyncio
import atexit
from collections.abc import Coroutine
from typing import Any, TypeVar

Result = TypeVar("Result")
_runner: asyncio.Runner | None = None


def run_async(work: Coroutine[Any, Any, Result]) -> Result:
    """Run `work` to its end in the process's loop; Ctrl-C cancels it and raises KeyboardInterrupt."""
    global _runner
    if _runner is None:
        _runner = asyncio.Runner()
        atexit.register(_close)
    return _runner.run(work)


def _close() -> None:
    global _runner
    if _runner is not None:
        _runner.close()
        _runner = None
