"""One row of a stage report from elsewhere: what it must hold, and the outcomes of its stages."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from eval_pipeline.errors import ErrorSource
from eval_pipeline.gating.json_files import parse_json
from eval_pipeline.gating.outcomes import OutcomesError
from eval_pipeline.outcome_names import Outcome

Unit = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
MAPPED_STAGES = ("tools", "retrieval", "faithfulness", "contextual_recall", "answer_relevancy")
"""The stages that become outcomes, in the order of the ladder."""
MAPPED_METRICS = MAPPED_STAGES[2:]
UNMAPPED_METRICS = ("contextual_precision",)
_WITHOUT_CALLS = {"answer_relevancy"}
"""Where no tool was called there is no context for the other metrics to judge by."""


class RowModel(BaseModel):
    """Fields that decide something are strict; others are there for readers and ignored."""

    model_config = ConfigDict(extra="ignore", frozen=True, strict=True)


class _Tools(RowModel):
    score: Unit
    unexpected: list[str]
    passed: bool = Field(alias="pass")


class _Retrieval(RowModel):
    hit: bool
    recall: Unit
    reciprocal_rank: Unit


class _Metric(RowModel):
    score: Unit
    reason: str | None = None


class _Row(RowModel):
    id: str = Field(min_length=1)
    calls: list[str]
    tools: _Tools | None
    retrieval: _Retrieval | None
    judged: dict[str, _Metric]
    first_failure: str | None


@dataclass(frozen=True)
class StageOutcome:
    """The outcome of one mapped stage of a row; a stage that does not apply has none."""

    stage: str
    outcome: Outcome
    source: ErrorSource | None = None


@dataclass(frozen=True)
class ReportRow:
    """One case of a report, in one repeat."""

    case: str
    repeat: int
    stages: tuple[StageOutcome, ...]
    unmapped: Mapping[str, float]
    """Scores that are kept and become no outcome."""
    problems: tuple[str, ...]
    """What in the row contradicts the rest of it."""


def read_published_row(raw: Any, place: str, at: tuple[str | int, ...], threshold: float) -> ReportRow:
    """Read one row of a report that another tool saved.

    Args:
        raw: the row's plain data.
        place: the file, to begin each problem with.
        at: where in the file the row stands.
        threshold: of the judged metrics.

    Raises:
        OutcomesError: for missing or mistyped fields and scores outside 0..1.
    """
    row = parse_json(raw, _Row, place, OutcomesError, at)
    passes = _passes(row, threshold)
    return ReportRow(
        case=row.id,
        repeat=0,
        stages=tuple(StageOutcome(stage, "passed" if ok else "failed") for stage, ok in passes.items()),
        unmapped={name: row.judged[name].score for name in UNMAPPED_METRICS if name in row.judged},
        problems=tuple(_problems(row, passes)),
    )


def _passes(row: _Row, threshold: float) -> dict[str, bool]:
    """Whether each mapped stage passes, in the order of the ladder."""
    passes = {}
    if row.tools is not None:
        passes["tools"] = row.tools.passed
    if row.retrieval is not None:
        passes["retrieval"] = row.retrieval.recall == 1.0
    for metric in MAPPED_METRICS:
        if metric in row.judged:
            passes[metric] = row.judged[metric].score >= threshold
    return passes


def _problems(row: _Row, passes: Mapping[str, bool]) -> Iterator[str]:
    if row.tools is not None:
        yield from tools_problems(row.tools.score, row.tools.unexpected, row.tools.passed)
    expected = {*MAPPED_METRICS, *UNMAPPED_METRICS} if row.calls else _WITHOUT_CALLS
    known = f"a case with{'' if row.calls else 'out'} tool calls has {_listed(expected)}"
    for metric in sorted(expected - row.judged.keys()):
        yield f"judged.{metric} is missing; {known}"
    for metric in sorted(row.judged.keys() - expected):
        yield f"judged.{metric} is surplus; {known}"
    first = next((stage for stage, ok in passes.items() if not ok), None)
    if row.first_failure != first:
        yield f"first_failure is {row.first_failure!r}, and yet the first stage that fails is {first!r}"


def tools_problems(score: float, unexpected: list[str], passed: bool) -> Iterator[str]:
    """A tools verdict that its own score and unexpected calls contradict."""
    if passed != (score == 1.0 and not unexpected):
        yield (
            f"tools.pass is {str(passed).lower()}, which contradicts score {score:g} with unexpected "
            f"{unexpected}; the stage passes at 1.0 with nothing unexpected"
        )


def _listed(names: Iterable[str]) -> str:
    return ", ".join(sorted(names))
