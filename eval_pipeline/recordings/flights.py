"""Calls under way: who asks what is being asked already waits for that answer."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager


class Flight(Future[Exception | None]):
    """One call under way; done with the fault that ended it, or with None: then look again."""


class Flights:
    """The calls being made now, by entry id; works across threads and event loops."""

    def __init__(self) -> None:
        self._under_way: dict[str, Flight] = {}

    def join(self, entry_id: str) -> Flight | None:
        """The call under way for `entry_id`, or None: then it is the caller who makes it.

        Not atomic: called under the lock that also guards what has been recorded.
        """
        flight = self._under_way.get(entry_id)
        if flight is None:
            self._under_way[entry_id] = Flight()
        return flight

    def joinable(self) -> bool:
        """Whether this thread may block until a call ends: not where an event loop may be making it."""
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return True
        return False

    @contextmanager
    def landing(self, entry_id: str) -> Iterator[None]:
        """Make the call in the block; whoever waits is told how it ended.

        A fault is everyone's. But when just the caller was cancelled, the others go on: the first
        of them to wake finds nothing recorded and no call under way, and makes it.
        """
        fault: Exception | None = None
        try:
            yield
        except Exception as error:
            fault = error
            raise
        finally:
            self._under_way.pop(entry_id).set_result(fault)
