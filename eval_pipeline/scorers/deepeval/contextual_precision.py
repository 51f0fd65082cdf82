"""Contextual precision: whether the judge finds the useful texts ranked before the useless ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from eval_pipeline.scorers.deepeval.context_and_reference import ContextAndReference

SHOWN = 80
"""Characters of a context text that name it in the details."""


@dataclass(frozen=True)
class ContextualPrecision(ContextAndReference):
    """DeepEval's `ContextualPrecisionMetric`: average precision at the ranks of the useful texts."""

    metric: ClassVar[str] = "contextual_precision"
    metric_class: ClassVar[str] = "ContextualPrecisionMetric"
    item: ClassVar[str] = "text"
    columns: ClassVar[Mapping[None, str]] = {None: "ctx precision"}

    def items(self, reference: str, context: Sequence[str]) -> list[str]:
        """The texts of the context, in short."""
        return [" ".join(text.split())[:SHOWN] for text in context]
