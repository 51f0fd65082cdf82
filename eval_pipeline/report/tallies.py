"""Numbers over the cases of a report, added up one after the other in a few bytes each."""

from __future__ import annotations

import math
from array import array

from eval_pipeline.statistics import Rate


class RateTally:
    """How many of the runs passed, those of one case given one after the other."""

    def __init__(self) -> None:
        self.passed = 0
        self.total = 0
        self.distinct = 0
        """Cases."""
        self._last: str | None = None

    def add(self, case_id: str, *, passed: bool) -> None:
        """The next run."""
        self.passed += passed
        self.total += 1
        self.distinct += case_id != self._last
        self._last = case_id

    def rate(self) -> Rate:
        """Passed of all, with the number of cases where that is less."""
        return Rate(self.passed, self.total, self.distinct if self.distinct < self.total else None)


class NumberTally:
    """A number of some runs: its mean, and where it always is yes or no, a rate."""

    def __init__(self) -> None:
        self._values = array("d")
        self._ones = RateTally()
        self._yes_or_no = True

    def add(self, case_id: str, value: float, *, yes_or_no: bool) -> None:
        """The number of the next run that has one."""
        self._values.append(value)
        self._ones.add(case_id, passed=value == 1)
        self._yes_or_no &= yes_or_no

    @property
    def count(self) -> int:
        """How many runs have it."""
        return len(self._values)

    @property
    def mean(self) -> float:
        """Over these."""
        return math.fsum(self._values) / len(self._values)

    @property
    def rate(self) -> Rate | None:
        """Of the ones; None of a number that is more than yes or no."""
        return self._ones.rate() if self._yes_or_no else None
