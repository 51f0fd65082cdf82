"""What worse and better add up to, in numbers and in plain words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from eval_pipeline.comparing.case_changes import Direction
from eval_pipeline.statistics import mcnemar_exact

SIGNIFICANT = 0.05
"""A p-value below this is called unlikely to be chance."""


@dataclass(frozen=True)
class Verdict:
    """The pairs of a comparison, by what became of them."""

    worse: int
    better: int
    same: int
    unmeasured: int
    """Cases that one of the sides could not measure: no pairs, and counted in nothing else."""

    @property
    def pairs(self) -> int:
        """Cases measured on both sides."""
        return self.worse + self.better + self.same

    @property
    def p(self) -> float | None:
        """Exact McNemar: how likely so lopsided a change is by chance alone; None where nothing changed."""
        return mcnemar_exact(self.worse, self.better) if self.worse or self.better else None

    @property
    def words(self) -> str:
        """Such as `3 worse, 1 better of 10: could be chance (exact McNemar p = 0.62)`."""
        if not self.pairs:
            text = "nothing to compare: no case is measured on both sides"
        elif self.p is None:
            text = f"none worse, none better of {self.pairs}"
        else:
            likely = "unlikely to be chance" if self.p < SIGNIFICANT else "could be chance"
            changed = f"{self.worse or 'none'} worse, {self.better or 'none'} better of {self.pairs}"
            text = f"{changed}: {likely} (exact McNemar p {_relation(self.p)})"
        return text + (f"; {self.unmeasured} not measured" if self.unmeasured else "")


def count_directions(directions: Iterable[Direction]) -> Verdict:
    """The verdict on cases of these directions."""
    counts = Counter(directions)
    return Verdict(counts["worse"], counts["better"], counts["same"], counts["unmeasured"])


def _relation(p: float) -> str:
    shown = shown_p(p)
    return shown if shown.startswith("<") else f"= {shown}"


def shown_p(p: float) -> str:
    """A p-value for reading: two digits that count, never a 0 that it is not."""
    return "< 0.0001" if p < 0.0001 else f"{p:.2g}"
