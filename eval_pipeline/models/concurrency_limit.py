"""How many calls in flight a provider bears, found out from those that it refuses for being too many."""

from __future__ import annotations

import math

SHARE_KEPT = 0.25
"""One burst of refusals leaves at least this share of the limit."""
SHORTEST_ROUND = 10
"""Answers in a row before the limit grows, or as many as the limit where that is more."""
GROWTH = 4
"""Each further round without a refusal adds this many times what the last one added."""


class ConcurrencyLimit:
    """The limit of one model: none until a call is refused; additive increase and exact decrease.

    A provider that refuses 30 of 50 calls bears 20: so every refused call takes one place away. But the
    calls in flight together, one burst, take no more than three quarters, or a provider that refuses them
    all because the quota of this second is used up would leave one place. Every round without a refusal
    gives places back, 1, then 4, then 16: a limit of 12 is 50 again after four rounds, while a provider that
    bears exactly 20 refuses one call in twenty.

    Calls are told apart by their number: how many were started before.
    """

    def __init__(self) -> None:
        self.places: float = math.inf
        self._burst_ends = 0
        """Number of the first call that was not yet started when the last burst began."""
        self._floor = 1
        self._step = 1
        self._answers = 0

    def refused(self, number: int, *, in_flight: int, started: int) -> bool:
        """Note a refused call; whether it is the first of its burst.

        Args:
            number: the call's.
            in_flight: how many calls are, this one included.
            started: how many calls have been, ever.
        """
        level = min(self.places, in_flight)
        new = number >= self._burst_ends
        if new:
            self._burst_ends = started
            self._floor = max(1, math.floor(level * SHARE_KEPT))
        self.places = max(self._floor, level - 1)
        self._step = 1
        self._answers = 0
        return new

    def answered(self, number: int, *, most: int) -> bool:
        """Note an answered call; whether that gave places back. With `most` places there is no limit."""
        # What was in flight when others were refused says nothing new.
        if self.places == math.inf or number < self._burst_ends:
            return False
        self._answers += 1
        if self._answers < max(SHORTEST_ROUND, self.places):
            return False
        self._answers = 0
        self.places += self._step
        self._step *= GROWTH
        if self.places >= most:
            self.places = math.inf
        return True
