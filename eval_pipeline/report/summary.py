"""The numbers of a report: how many cases passed, and per stage what was measured on how many of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, get_args

from eval_pipeline.errors import ErrorSource
from eval_pipeline.gating.check_states import standing_of
from eval_pipeline.report.repeats import CaseRepeats
from eval_pipeline.scores import Gating, Outcome, Score
from eval_pipeline.statistics import Rate

OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)


@dataclass(frozen=True)
class MetricSummary:
    """One further number of a stage, over the cases where it was scored."""

    mean: float
    count: int
    rate: Rate | None = None
    """For a yes-or-no metric, one whose detail of the same name is a boolean."""


@dataclass(frozen=True)
class StageSummary:
    """One stage over all runs."""

    gating: Gating
    applies: int
    """Runs of cases that expect something of it."""
    scored: int
    """Of these, the ones with a score; the others could not be measured."""
    errors: int
    not_measured: int
    rate: Rate
    """Passed of measured; a system's error is measured and not passed, other errors are unmeasured."""
    mean: float | None
    """Of the scores; None without any."""
    metrics: Mapping[str, MetricSummary]
    flips: int = 0
    """Cases in which it passed in one repeat and not in another."""
    gated: int = 0
    """Runs in which it gates."""
    unmeasured_because: tuple[str, ...] = ()
    """The different reasons for what was not measured."""


@dataclass(frozen=True)
class CostSummary:
    """What the recorded or live calls of all runs cost when they were made, at list price."""

    usd: float
    """Of the runs all of whose calls have a known price."""
    runs: int
    """How many those are."""
    of: int
    """Runs that made any call."""


@dataclass(frozen=True)
class NotPassed:
    """A run that did not pass."""

    place: int
    """Among the report's rows."""
    case_id: str
    outcome: Outcome


@dataclass(frozen=True)
class RunTotals:
    """What all runs took, and what kept some from being measured."""

    calls: int = 0
    called: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    judge_calls: int = 0
    judge_called: int = 0
    judge_tokens: int = 0
    tool_calls: int = 0
    gating_unmeasured: int = 0
    """Checks that gate and were not measured."""
    faults: int = 0
    """Errors that are not the system's: of checks that gate, and of providers anywhere."""


@dataclass(frozen=True)
class ReportSummary:
    """All runs of a cell."""

    cases: int
    runs: int
    """Cases times repeats."""
    outcomes: Mapping[Outcome, int]
    """Runs by outcome, zeros included."""
    rate: Rate
    """Runs that passed every gating stage, of the measured ones."""
    repeated: tuple[CaseRepeats, ...]
    """Each case over its repeats; empty where each was run once."""
    stages: Mapping[str, StageSummary]
    """By stage, in the suite's order."""
    cost: CostSummary | None = None
    """None where no run's calls have a known price."""
    not_passed: tuple[NotPassed, ...] = ()
    """In the order of the rows."""
    totals: RunTotals = RunTotals()


def measure(score: Score, name: str) -> Any:
    """What a score says under a name: among its details first, for they keep yes and no, then its metrics."""
    return score.details.get(name, score.metrics.get(name))


def rate_of_runs(outcomes: Iterable[tuple[str, Outcome, ErrorSource | None]]) -> Rate:
    """Passed of measured, from case ids with outcomes and error sources; its interval counts cases."""
    measured = [
        (case, outcome) for case, outcome, source in outcomes if standing_of(outcome, source) != "unmeasured"
    ]
    passed, distinct = (
        sum(outcome == "passed" for _, outcome in measured),
        len({case for case, _ in measured}),
    )
    return Rate(passed, len(measured), distinct if distinct < len(measured) else None)
