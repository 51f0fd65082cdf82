"""One event loop per process: async HTTP clients are cached and die with the loop they were made in."""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import contextvars
import signal
import threading
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator
from dataclasses import dataclass, field
from types import FrameType
from typing import Any, TypeVar

from eval_pipeline.garbage_collection import few_whole_collections

Result = TypeVar("Result")
_runner: asyncio.Runner | None = None
_closing: list[Callable[[], Awaitable[None]]] = []


def run_async(work: Coroutine[Any, Any, Result]) -> Result:
    """Run `work` to its end in the process's loop; Ctrl-C cancels it and raises KeyboardInterrupt.

    When it raises, what it had started is cancelled: the loop is kept, and would go on with that in the
    next run.
    """
    global _runner
    if _runner is None:
        _runner = asyncio.Runner()
        atexit.register(_close)
    with _interruptible() as interrupt, few_whole_collections():
        try:
            # The runner alone would give every run the context variables of the first one.
            result = _runner.run(interrupt.watch(work), context=contextvars.copy_context())
        except BaseException:
            _runner.run(_cancel_rest())
            if interrupt.pressed:
                raise KeyboardInterrupt from None
            raise
    if interrupt.pressed:
        raise KeyboardInterrupt
    return result


async def gather_in_turn(work: Iterable[Coroutine[Any, Any, Result]]) -> list[Result]:
    """As `asyncio.gather`, but that each begins one turn of the loop after the one before it.

    Begun in one turn, calls leave together and are answered together: we wait for the provider, then it for
    us, and then again.
    """
    tasks: list[asyncio.Task[Result]] = []
    for one in work:
        tasks.append(asyncio.ensure_future(one))
        await asyncio.sleep(0)
    return await asyncio.gather(*tasks)


def in_kept_loop() -> bool:
    """Whether this code runs in the process's loop, not in another one and not outside of any."""
    try:
        return _runner is not None and asyncio.get_running_loop() is _runner.get_loop()
    except RuntimeError:
        return False


def close_with_loop(close: Callable[[], Awaitable[None]]) -> None:
    """Have `close` awaited when the process's loop ends."""
    _closing.append(close)


@dataclass
class _Interrupt:
    """Ctrl-C during one run: noted, so that it holds also when the work ends or fails in the same moment."""

    pressed: bool = False
    _tasks: list[asyncio.Task[Any]] = field(default_factory=list)

    async def watch(self, work: Coroutine[Any, Any, Result]) -> Result:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.append(task)
        return await work

    def press(self, number: int, frame: FrameType | None) -> None:
        if self.pressed:
            raise KeyboardInterrupt  # the second time, at once
        self.pressed = True
        for task in self._tasks:
            task.get_loop().call_soon_threadsafe(task.cancel)


@contextlib.contextmanager
def _interruptible() -> Iterator[_Interrupt]:
    """Stands in for whoever else handles Ctrl-C, which may raise in the middle of anything."""
    interrupt = _Interrupt()
    if threading.current_thread() is not threading.main_thread():
        yield interrupt  # signals reach the main thread alone
        return
    before = signal.signal(signal.SIGINT, interrupt.press)
    try:
        yield interrupt
    finally:
        signal.signal(signal.SIGINT, before)


async def _cancel_rest() -> None:
    rest = asyncio.all_tasks() - {asyncio.current_task()}
    for task in rest:
        task.cancel()
    await asyncio.gather(*rest, return_exceptions=True)


async def _close_all() -> None:
    while _closing:
        await _closing.pop()()


def _close() -> None:
    global _runner
    if _runner is not None:
        _runner.run(_close_all())
        _runner.close()
        _runner = None
