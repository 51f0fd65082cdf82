"""The numbers of a report: how many cases passed, and per stage what was measured on how many of them."""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args

from eval_pipeline.errors import ErrorSource
from eval_pipeline.gating.check_states import standing_of
from eval_pipeline.prices import total_cost
from eval_pipeline.report.case_reports import CaseReport
from eval_pipeline.report.repeats import CaseRepeats, sum_up_repeats
from eval_pipeline.report.tallies import NumberTally, RateTally
from eval_pipeline.scores import CheckResult, Gating, Outcome, Score, Stage
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


def summarise(
    rows: Iterable[CaseReport], stages: Sequence[Stage], *, repeated: bool = False
) -> ReportSummary:
    """The numbers over the runs of one cell, the repeats of a case one after the other."""
    summariser = Summariser(stages, repeated=repeated)
    for row in rows:
        summariser.add(row)
    return summariser.summary()


class Summariser:
    """Adds the rows of a report up, one after the other, and holds none of them."""

    def __init__(self, stages: Sequence[Stage], *, repeated: bool) -> None:
        """`repeated` says whether cases are run more than once."""
        self._stages = {stage.name: StageTally(stage) for stage in stages}
        self._repeated = repeated
        self._repeats: list[CaseRepeats] = []
        self._case: list[CaseReport] = []
        self._outcomes: Counter[Outcome] = Counter()
        self._rate = RateTally()
        self._all = RateTally()
        self._costs = array("d")
        self._runs_with_calls = 0
        self._not_passed: list[NotPassed] = []
        self._totals: Counter[str] = Counter()

    def add(self, row: CaseReport) -> None:
        """The next row; those of one case come one after the other."""
        case_id = row.trace.case_id
        if row.outcome != "passed":
            self._not_passed.append(NotPassed(self._all.total, case_id, row.outcome))
        self._all.add(case_id, passed=row.outcome == "passed")
        self._outcomes[row.outcome] += 1
        if standing_of(row.outcome, row.first_failure_source) != "unmeasured":
            self._rate.add(case_id, passed=row.outcome == "passed")
        for name, check in row.checks.items():
            self._stages[name].add(check)
        self._add_cost(row)
        self._add_totals(row)
        if self._repeated:
            if self._case and self._case[0].trace.case_id != case_id:
                self._end_case()
            self._case.append(row)

    def summary(self) -> ReportSummary:
        """The numbers over all rows given."""
        self._end_case()
        flips = Counter(stage for case in self._repeats for stage in case.flips)
        return ReportSummary(
            cases=self._all.distinct,
            runs=self._all.total,
            outcomes={outcome: self._outcomes[outcome] for outcome in OUTCOMES},
            rate=self._rate.rate(),
            repeated=tuple(self._repeats),
            stages={name: tally.summary(flips[name]) for name, tally in self._stages.items()},
            cost=CostSummary(math.fsum(self._costs), len(self._costs), self._runs_with_calls)
            if self._costs
            else None,
            not_passed=tuple(self._not_passed),
            totals=RunTotals(**self._totals),
        )

    def _end_case(self) -> None:
        self._repeats += sum_up_repeats(self._case)
        self._case = []

    def _add_cost(self, row: CaseReport) -> None:
        costs = [row.trace.usage.cost] if row.trace.usage.calls else []
        costs += [check.cost for check in row.checks.values() if check.calls]
        self._runs_with_calls += bool(costs)
        if (cost := total_cost(costs)) is not None:
            self._costs.append(cost)

    def _add_totals(self, row: CaseReport) -> None:
        totals, usage = self._totals, row.trace.usage
        for name in ("calls", "called", "input_tokens", "output_tokens"):
            totals[name] += getattr(usage, name)
        totals["tool_calls"] += len(row.trace.tool_calls)
        for check in row.checks.values():
            totals["judge_calls"] += check.calls
            totals["judge_called"] += check.called
            totals["judge_tokens"] += check.tokens
            totals["gating_unmeasured"] += check.gating and check.outcome == "not_measured"
            if check.error_source not in (None, "system"):
                totals["faults"] += check.gating or check.error_source == "provider"


class StageTally:
    """One stage added up."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._counts: Counter[str] = Counter()
        self._rate = RateTally()
        self._scores = array("d")
        labels: Mapping[str, str] = getattr(stage.scorer, "metric_labels", {})
        self._shown = dict.fromkeys(labels)
        self._numbers: dict[str, NumberTally] = {}
        """Of each number among metrics and details: what is a metric may show later than its first value."""
        self._reasons: dict[str, None] = {}

    def add(self, check: CheckResult) -> None:
        """The stage's check of the next run."""
        self._counts["applies"] += 1
        self._counts[check.outcome] += 1
        self._counts["gated"] += check.gating
        if check.outcome == "not_measured":
            self._reasons[check.reason] = None
        if standing_of(check.outcome, check.error_source) != "unmeasured":
            self._rate.add(check.case_id, passed=check.outcome == "passed")
        if check.score is not None:
            self._add_score(check.case_id, check.score)

    def _add_score(self, case_id: str, score: Score) -> None:
        self._scores.append(score.value)
        for name in score.metrics:
            self._shown[name] = None
        for name, value in {**score.metrics, **score.details}.items():
            if isinstance(value, (int, float)) and math.isfinite(value):
                known = isinstance(score.details.get(name), bool)
                self._numbers.setdefault(name, NumberTally()).add(case_id, value, yes_or_no=known)

    def summary(self, flips: int) -> StageSummary:
        """The numbers over all checks given."""
        metrics = {name: self._numbers[name] for name in self._shown if name in self._numbers}
        return StageSummary(
            gating=self._stage.gating,
            applies=self._counts["applies"],
            scored=len(self._scores),
            errors=self._counts["error"],
            not_measured=self._counts["not_measured"],
            rate=self._rate.rate(),
            mean=math.fsum(self._scores) / len(self._scores) if self._scores else None,
            metrics={
                name: MetricSummary(found.mean, found.count, found.rate) for name, found in metrics.items()
            },
            flips=flips,
            gated=self._counts["gated"],
            unmeasured_because=tuple(self._reasons),
        )


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
