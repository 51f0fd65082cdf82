"""Counts with what they can bear: Wilson intervals, exact McNemar for pairs, kappa for agreement."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

_Z = 1.959963984540054  # the standard normal's 97.5 % quantile, for 95 % two-sided intervals


@dataclass(frozen=True)
class Rate:
    """How many of how many passed."""

    passed: int
    total: int
    cases: int | None = None
    """How many cases these were, where each was measured several times."""

    def __post_init__(self) -> None:
        _check_counts(self.passed, self.total)

    @property
    def value(self) -> float | None:
        """The share in 0..1; None when nothing was counted, which is neither 0 % nor 100 %."""
        return self.passed / self.total if self.total else None

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % Wilson interval of the share; see `wilson_interval`.

        Repeats of one case resemble each other, and so tell less than as many cases would: the interval is
        that of the same share of `cases`, as if each case's repeats were one measurement.
        """
        if self.cases is None or not self.total:
            return wilson_interval(self.passed, self.total)
        return wilson_interval(self.passed * self.cases / self.total, self.cases)

    def __str__(self) -> str:
        if not self.total:
            return "0/0"
        low, high = self.interval
        return f"{self.passed}/{self.total} ({low:.2f}–{high:.2f})"


def wilson_interval(successes: float, n: int) -> tuple[float, float]:
    """The 95 % score interval of a share, which stays within 0..1 also for few cases.

    Centre (p + z²/2n) / (1 + z²/n), half width z √(p(1-p)/n + z²/4n²) / (1 + z²/n), with z = 1.96
    (E. B. Wilson, "Probable inference, the law of succession, and statistical inference", JASA 1927).

    Returns:
        Lower and upper bound; (0.0, 1.0) when n is 0, for then nothing is known.

    Raises:
        ValueError: unless 0 <= successes <= n.
    """
    _check_counts(successes, n)
    if n == 0:
        return 0.0, 1.0
    share = successes / n
    scale = 1 + _Z * _Z / n
    centre = share + _Z * _Z / (2 * n)
    half = _Z * math.sqrt(share * (1 - share) / n + _Z * _Z / (4 * n * n))
    # At the ends the bound is exactly 0 or 1; rounding would miss it by a hair.
    low = 0.0 if successes == 0 else (centre - half) / scale
    high = 1.0 if successes == n else (centre + half) / scale
    return low, high


def mcnemar_exact(worse: int, better: int) -> float:
    """Two-sided p-value that so lopsided a change of paired outcomes is chance.

    Of the n = worse + better pairs that changed, each would be as likely to get worse as better:
    p = min(1, 2 · Σ C(n, i) / 2ⁿ) over i = 0 … min(worse, better), the exact binomial form of
    Q. McNemar's test (Psychometrika 1947). Pairs that did not change say nothing and are left out.

    Returns:
        The p-value in 0..1; 1.0 when no pair changed.

    Raises:
        ValueError: for negative counts.
    """
    if worse < 0 or better < 0:
        raise ValueError(f"mcnemar_exact: {worse} worse and {better} better; counts are 0 or more")
    n, fewer = worse + better, min(worse, better)
    term = math.comb(n, fewer)
    tail = term
    for i in range(fewer, 0, -1):
        term = term * i // (n - i + 1)
        tail += term
        if term < tail >> 60:  # the rest is below a float's precision
            break
    return min(1.0, 2 * tail / (1 << n))


def cohens_kappa(pairs: Sequence[tuple[bool, bool]]) -> float | None:
    """How far two raters agree beyond chance: 1 always, 0 as often as chance has it, below 0 less.

    κ = (p_o - p_e) / (1 - p_e), where p_o is the share of pairs that agree and p_e what chance alone
    would give, from how often each rater says yes (J. Cohen, Educational and Psychological Measurement 1960).

    Returns:
        None without pairs, and where the first rater, who knows the truth, says only one of the two.
    """
    n = len(pairs)
    first, second = sum(a for a, _ in pairs), sum(b for _, b in pairs)
    if not n or first in (0, n):
        return None
    observed = sum(a == b for a, b in pairs) / n
    chance = (first * second + (n - first) * (n - second)) / (n * n)
    return (observed - chance) / (1 - chance)


def _check_counts(successes: float, n: int) -> None:
    if not 0 <= successes <= n:
        raise ValueError(f"{successes} of {n} is not a count of successes; give 0 <= successes <= n")
