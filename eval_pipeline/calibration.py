"""Calibration: a judge tried on answers whose defect is known, before its scores count."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from eval_pipeline.cases import Case
from eval_pipeline.content_hash import content_hash
from eval_pipeline.errors import ErrorSource
from eval_pipeline.scores import JudgedPart, Outcome
from eval_pipeline.traces import AgentTrace

REPEATS = 3
"""Times a judge scores each case: its own noise is measured by these alone."""

Expected = Literal["defect", "sound"]


@dataclass(frozen=True)
class CalibrationCase:
    """An answer with its context, of which we know whether it is sound."""

    id: str
    metrics: tuple[str, ...]
    """The stages that it is to try."""
    expected: Expected
    wrong: str | None
    """What is wrong with it, in words; None of a sound one."""
    input: str
    answer: str | None = None
    context: tuple[str, ...] = ()
    reference: str | None = None

    @property
    def case(self) -> Case:
        """As a scorer takes it."""
        return Case(self.id, self.input, self.reference)

    def trace(self, field: str | None = None) -> AgentTrace:
        """As though an agent had answered so, from that context.

        Args:
            field: where the scorer judges one field of a structured answer: the one that holds the answer.
        """
        structured = None if field is None else {field: self.answer}
        return AgentTrace(self.id, answer=self.answer, context=self.context, structured=structured)

    def has(self, part: JudgedPart) -> bool:
        """Whether it has what a judge is to be shown, and not merely blank text."""
        texts: Mapping[JudgedPart, Sequence[str | None]] = {
            "question": [self.input],
            "answer": [self.answer],
            "reference": [self.reference],
            "context": self.context,
        }
        return any((text or "").strip() for text in texts[part])

    @property
    def content(self) -> tuple[object, ...]:
        """All that a judge may be shown of it."""
        return self.input, self.answer, self.context, self.reference


@dataclass(frozen=True)
class Minimums:
    """What a judge must achieve on each metric to be called calibrated there."""

    cases: int = 4
    """Defects, and sound answers, that it must have scored."""
    caught: float = 0.75
    """Share of the defects that it must catch."""
    false_alarms: float = 0.25
    """Share of the sound answers that it may flag."""


@dataclass(frozen=True)
class CalibrationSet:
    """A suite's calibration cases, and what it asks of a judge on them."""

    cases: tuple[CalibrationCase, ...]
    minimums: Minimums = field(default_factory=Minimums)

    @cached_property
    def sha(self) -> str:
        """Hash of the cases; the minimums judge the scores and change none."""
        return content_hash([vars(case) for case in sorted(self.cases, key=lambda case: case.id)])


@dataclass(frozen=True)
class CalibrationScore:
    """What the judge said of one calibration case under one metric in one of its repeats."""

    case_id: str
    metric: str
    """A stage's name, with ` (plain)` or ` (strict)` after it for a variant of its scorer."""
    expected: Expected
    judge_repeat: int
    outcome: Outcome
    """`passed` at the stage's threshold: no defect seen."""
    threshold: float
    score: float | None
    reason: str
    error_source: ErrorSource | None = None
    details: Mapping[str, Any] = field(default_factory=dict)
    judge: str | None = None
    """None for a stage without a judge, scored for comparison."""
    calls: int = 0
    tokens: int = 0
