"""Contextual recall: the share of the reference's sentences that the judge finds in the context."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from eval_pipeline.scorers.deepeval.context_and_reference import ContextAndReference
from eval_pipeline.scorers.grounding.sentences import split_sentences


@dataclass(frozen=True)
class ContextualRecall(ContextAndReference):
    """DeepEval's `ContextualRecallMetric`: whether what was fetched suffices for the reference answer."""

    metric: ClassVar[str] = "contextual_recall"
    metric_class: ClassVar[str] = "ContextualRecallMetric"
    item: ClassVar[str] = "sentence"
    columns: ClassVar[Mapping[None, str]] = {None: "ctx recall"}

    def items(self, reference: str, context: Sequence[str]) -> list[str]:
        """The sentences of the reference answer."""
        return [sentence.text for sentence in split_sentences(reference)]
