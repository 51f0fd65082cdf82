"""One row of a stage report of our own, which says itself which stages apply and what came of each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pydantic import Field

from eval_pipeline.errors import ErrorSource
from eval_pipeline.gating.json_files import parse_json
from eval_pipeline.gating.outcomes import OutcomesError
from eval_pipeline.gating.published_rows import (
    MAPPED_METRICS,
    MAPPED_STAGES,
    UNMAPPED_METRICS,
    ReportRow,
    RowModel,
    StageOutcome,
    Unit,
    tools_problems,
)
from eval_pipeline.outcome_names import Outcome


class _Block(RowModel):
    """What a stage says of the case; an error or an unmeasured stage has no score."""

    score: Unit | None = None
    passed: bool | None = Field(default=None, alias="pass")
    unexpected: list[str] = Field(default_factory=list)


class _Outcome(RowModel):
    outcome: Outcome
    gating: bool
    error_source: ErrorSource | None = None


class _Error(RowModel):
    source: str


class _Row(RowModel):
    id: str = Field(min_length=1)
    repeat: int = Field(default=0, ge=0)
    tools: _Block | None = None
    retrieval: _Block | None = None
    judged: dict[str, _Block | None]
    outcomes: dict[str, _Outcome]
    """By stage, in the suite's order."""
    first_failure: str | None
    error: _Error | None = None

    def block(self, stage: str) -> _Block | None:
        """What a mapped stage says."""
        blocks = {"tools": self.tools, "retrieval": self.retrieval, **self.judged}
        return blocks.get(stage)


def is_own_row(raw: Any) -> bool:
    """Whether a row is one of our own reports, which add the outcomes to the scores."""
    return isinstance(raw, dict) and "outcomes" in raw


def read_own_row(raw: Any, place: str, at: tuple[str | int, ...], threshold: float | None) -> ReportRow:
    """Read one row of a report of our own; arguments and errors are those of `read_published_row`.

    Without a threshold, no stage may be judged: nothing could tell whether its outcomes are right.
    """
    row = parse_json(raw, _Row, place, OutcomesError, at)
    unmapped = {name: row.judged.get(name) for name in UNMAPPED_METRICS}
    return ReportRow(
        case=row.id,
        repeat=row.repeat,
        stages=tuple(
            StageOutcome(stage, row.outcomes[stage].outcome, row.outcomes[stage].error_source)
            for stage in MAPPED_STAGES
            if stage in row.outcomes
        ),
        unmapped={name: b.score for name, b in unmapped.items() if b is not None and b.score is not None},
        problems=tuple(_problems(row, threshold)),
    )


def _problems(row: _Row, threshold: float | None) -> Iterator[str]:
    for stage in MAPPED_STAGES:
        yield from _stage_problems(row, stage, threshold)
    for metric in sorted(row.judged.keys() - row.outcomes.keys()):
        if row.judged[metric] is not None:
            yield f"judged.{metric} is surplus; it has no outcome"
    first = next((name for name, o in row.outcomes.items() if o.gating and o.outcome != "passed"), None)
    if first is None and row.error is not None:
        first = row.error.source  # it broke off after everything that was scored had passed
    if row.first_failure != first:
        which = "first gating stage that fails"
        yield f"first_failure is {row.first_failure!r}, and yet the {which} is {first!r}"


def _stage_problems(row: _Row, stage: str, threshold: float | None) -> Iterator[str]:
    """Contradictions between a stage's outcome and its numbers."""
    block, found = row.block(stage), row.outcomes.get(stage)
    if found is None:
        if block is not None:
            yield f"{stage} has a score and no outcome; a stage that does not apply has neither"
        return
    if found.outcome == "error" and found.error_source is None:
        yield f"outcomes.{stage} is an error, and its error_source is missing"
    if found.outcome not in ("passed", "failed"):
        return
    if block is None or block.score is None:
        yield f"outcomes.{stage} is {found.outcome}, and yet it has no score"
        return
    if stage == "tools":
        passed = found.outcome == "passed" if block.passed is None else block.passed
        yield from tools_problems(block.score, block.unexpected, passed)
    needed = threshold if stage in MAPPED_METRICS else 1.0
    if needed is None:
        yield f"{stage} is judged, and the report has no one threshold; gate its outcomes file instead"
        return
    passes = block.score >= needed and not block.unexpected
    if passes != (found.outcome == "passed"):
        yield f"outcomes.{stage} is {found.outcome}, which contradicts its score {block.score:g}"
