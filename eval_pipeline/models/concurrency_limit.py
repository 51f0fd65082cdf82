"""How many calls in flight a provider bears, found out from those that it refuses for being too many."""

from __future__ import annotations

import math

SHARE_KEPT = 0.25
"""One burst of refusals leaves at least this share of the limit."""
GROWTH = 4
"""Each further round without a refusal adds this many times what the last one added."""
MOST_PATIENCE = 10
"""Answers that are waited for at most before a small limit grows."""


class ConcurrencyLimit:
    """The limit of one model: none until a call is refused; additive increase and exact decrease.

    A provider that refuses 30 of 50 calls bears 20: so every refused call takes one place away. But one
    burst takes no more than three quarters: a provider that refuses everything, since the quota of this
    second is used up, says nothing about how many calls it bears. A burst is the calls that were in flight
    together, and those that followed before anything was answered.

    A round is as many answers as there are places. Each one without a refusal gives places back, 1, then 4,
    then 16: a limit of 12 is 50 again after four rounds, while a provider that bears exactly 20 refuses one
    call in twenty. Where there are few places, each time that giving some back was refused makes the next
    round longer, so that a provider that bears one call refuses one in ten.

    Calls are told apart by their number: how many were started before.
    """

    def __init__(self) -> None:
        self.places: float = math.inf
        self._burst_ends = 0
        """Number of the first call that was not yet started when the last burst began."""
        self._floor = 1
        self._answered = True
        """Whether anything was answered since the last burst began."""
        self._answers = 0
        """Answers in this round."""
        self._step = 1
        self._patience = 1
        self._grown = False
        """Whether places were given back since the last burst."""

    def refused(self, number: int, *, in_flight: int, started: int) -> bool:
        """Note a refused call; whether it is the first of its burst.

        Args:
            number: the call's.
            in_flight: how many calls are, this one included.
            started: how many calls have been, ever.
        """
        level = min(self.places, in_flight)
        later = number >= self._burst_ends
        new = later and self._answered
        if later:
            self._burst_ends = started
        if new:
            self._floor = max(1, math.floor(level * SHARE_KEPT))
            self._patience = min(2 * self._patience, MOST_PATIENCE) if self._grown else self._patience
            self._grown = self._answered = False
        self.places = max(self._floor, level - 1)
        self._step = 1
        self._answers = 0
        return new

    def answered(self, number: int, *, most: int) -> bool:
        """Note an answered call; whether that gave places back. With `most` places there is no limit."""
        if self.places == math.inf:
            return False
        self._answered = True
        if number < self._burst_ends:
            return False  # it was in flight when others were refused, and says nothing new
        self._answers += 1
        if self._answers < max(self.places, self._patience):
            return False
        self._answers = 0
        self._grown = True
        self.places += self._step
        self._step *= GROWTH
        if self.places >= most:
            self.places = math.inf
            self._patience = 1
        return True
