"""The calls in flight to one model: bounded, for the whole process."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import math
import threading
from collections import deque
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import Future

from eval_pipeline.models.clock import Clock
from eval_pipeline.models.concurrency_limit import ConcurrencyLimit

log = logging.getLogger(__name__)


class Slot:
    """One call's place among those in flight."""

    def __init__(self, most: int) -> None:
        self.most = most
        """Its model's `max_concurrency`, as its caller knows it."""
        self.number = -1
        """How many calls were started before it."""
        self.granted: Future[None] | None = None
        """What its caller waits for; None for one that need not wait."""


class Pool:
    """The calls in flight to one model, from any number of threads and event loops.

    Two things bound them: the `max_concurrency` of who asks, and what the provider bears
    (`ConcurrencyLimit`). When a refusal says how long to wait, nobody starts a call until then.
    """

    def __init__(self, model: str, clock: Clock) -> None:
        self.in_flight = 0
        self.limit = ConcurrencyLimit()
        self._model = model
        self._clock = clock
        self._lock = threading.Lock()
        self._waiting: deque[Slot] = deque()
        self._started = 0
        self._most = 1
        self._paused_until = -math.inf

    @contextlib.asynccontextmanager
    async def slot(self, most: int, *, first: bool = False) -> AsyncIterator[Slot]:
        """Hold a slot for the block, once fewer than `most` calls are in flight and the provider bears more.

        Args:
            most: as many may be in flight with this one.
            first: whether it goes before those that wait already, as a repeated attempt does.
        """
        slot = self._queue(most, first=first)
        try:
            if slot.granted is not None and not slot.granted.done():
                await asyncio.wrap_future(slot.granted)
            while (left := self._pause_left()) > 0:
                await self._clock.sleep(left)
            yield slot
        finally:
            self._leave(slot)

    @contextlib.contextmanager
    def slot_blocking(self, most: int, *, first: bool = False) -> Iterator[Slot]:
        """As `slot`, for code that can't await.

        In the thread of an event loop it takes a slot without waiting for one: the calls that it would wait
        for could not go on.
        """
        slot = self._queue(most, first=first)
        try:
            if slot.granted is not None:
                if not slot.granted.done() and _in_event_loop():
                    self._grant_now(slot)
                slot.granted.result()
            while (left := self._pause_left()) > 0:
                self._clock.sleep_blocking(left)
            yield slot
        finally:
            self._leave(slot)

    def answered(self, slot: Slot) -> None:
        """Note that the provider took this call."""
        if self.limit.places == math.inf:
            return
        with self._lock:
            if self.limit.answered(slot.number, most=self._most):
                log.info("%s: up to %s calls in flight again", self._model, self._places())
                self._admit()

    def refused(self, slot: Slot, retry_after_s: float | None) -> None:
        """Note that the provider had too many calls to take this one."""
        with self._lock:
            in_flight = self.in_flight
            if self.limit.refused(slot.number, in_flight=in_flight, started=self._started):
                log.warning("%s: refused with %d calls in flight; fewer now", self._model, in_flight)
            if retry_after_s:
                self._paused_until = max(self._paused_until, self._clock.now() + retry_after_s)

    def _places(self) -> str:
        return str(self._most if self.limit.places == math.inf else int(self.limit.places))

    def _pause_left(self) -> float:
        return self._paused_until - self._clock.now()

    def _queue(self, most: int, *, first: bool) -> Slot:
        slot = Slot(most)
        with self._lock:
            self._most = max(self._most, most)
            if self._has_room(most) and (first or not self._waiting):
                self._start(slot)
                return slot
            slot.granted = Future()
            if first:
                self._waiting.appendleft(slot)
            else:
                self._waiting.append(slot)
            self._admit()
        return slot

    def _leave(self, slot: Slot) -> None:
        if slot.granted is not None:
            slot.granted.cancel()  # does nothing once it is granted
        with self._lock:
            if slot.number >= 0:
                self.in_flight -= 1
            elif slot in self._waiting:
                self._waiting.remove(slot)
            self._admit()

    def _grant_now(self, slot: Slot) -> None:
        with self._lock:
            if slot.number < 0:
                self._waiting.remove(slot)
                self._grant(slot)

    def _has_room(self, most: int) -> bool:
        return self.in_flight < min(self.limit.places, most)

    def _admit(self) -> None:
        while self._waiting and self._has_room(self._waiting[0].most):
            self._grant(self._waiting.popleft())

    def _grant(self, slot: Slot) -> None:
        assert slot.granted is not None
        if slot.granted.set_running_or_notify_cancel():  # not if who waited was cancelled just now
            self._start(slot)
            slot.granted.set_result(None)

    def _start(self, slot: Slot) -> None:
        slot.number = self._started
        self._started += 1
        self.in_flight += 1


def _in_event_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
