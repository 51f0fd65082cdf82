"""Numbers over the cases of a report, added up one after the other or from parts added up before."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from eval_pipeline.statistics import Rate

_HELD = 256
"""Numbers that are held before they are added up."""


@dataclass
class ExactSum:
    """A sum without rounding: equal numbers give the same one, in whatever order and parts they come."""

    terms: list[float] = field(default_factory=list)
    """What is to be added up."""
    count: int = 0
    """How many numbers these come from."""

    def add(self, number: float) -> None:
        """One more number, a finite one."""
        self.terms.append(number)
        self.count += 1
        self._shorten()

    def merge(self, other: ExactSum) -> None:
        """All numbers of another sum."""
        self.terms += other.terms
        self.count += other.count
        self._shorten()

    @property
    def value(self) -> float:
        """The sum, correctly rounded."""
        return math.fsum(self.terms)

    @property
    def mean(self) -> float | None:
        """Over the numbers; None without any."""
        return self.value / self.count if self.count else None

    def shorten(self) -> None:
        """Hold the same sum as a few numbers: what it rounds to, what that leaves out, and so on."""
        parts: list[float] = []
        while rest := math.fsum([*self.terms, *(-part for part in parts)]):
            parts.append(rest)
        self.terms = parts

    def _shorten(self) -> None:
        if len(self.terms) > _HELD:
            self.shorten()


@dataclass
class RateTally:
    """How many of the runs passed, those of one case given one after the other."""

    passed: int = 0
    total: int = 0
    distinct: int = 0
    """Cases."""
    last: str | None = None
    """The case given last."""

    def add(self, case_id: str, *, passed: bool) -> None:
        """The next run."""
        self.passed += passed
        self.total += 1
        self.distinct += case_id != self.last
        self.last = case_id

    def merge(self, other: RateTally) -> None:
        """The runs of further cases."""
        self.passed += other.passed
        self.total += other.total
        self.distinct += other.distinct
        self.last = other.last

    def rate(self) -> Rate:
        """Passed of all, with the number of cases where that is less."""
        return Rate(self.passed, self.total, self.distinct if self.distinct < self.total else None)


@dataclass
class NumberTally:
    """A number of some runs: its mean, and where it always is yes or no, a rate."""

    numbers: ExactSum = field(default_factory=ExactSum)
    ones: RateTally = field(default_factory=RateTally)
    yes_or_no: bool = True

    def add(self, case_id: str, value: float, *, yes_or_no: bool) -> None:
        """The number of the next run that has one."""
        self.numbers.add(value)
        self.ones.add(case_id, passed=value == 1)
        self.yes_or_no &= yes_or_no

    def merge(self, other: NumberTally) -> None:
        """The numbers of further cases."""
        self.numbers.merge(other.numbers)
        self.ones.merge(other.ones)
        self.yes_or_no &= other.yes_or_no

    @property
    def rate(self) -> Rate | None:
        """Of the ones; None of a number that is more than yes or no."""
        return self.ones.rate() if self.yes_or_no else None
