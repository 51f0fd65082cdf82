"""Adds the rows of a report up: one after the other, or parts of it that were added up before."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import TypeVar

from eval_pipeline.gating.check_states import standing_of
from eval_pipeline.prices import total_cost
from eval_pipeline.report.case_reports import CaseReport
from eval_pipeline.report.repeats import CaseRepeats, sum_up_repeats
from eval_pipeline.report.summary import (
    OUTCOMES,
    CostSummary,
    MetricSummary,
    NotPassed,
    ReportSummary,
    RunTotals,
    StageSummary,
)
from eval_pipeline.report.tallies import ExactSum, NumberTally, RateTally
from eval_pipeline.scores import CheckResult, Outcome, Score, Stage

Name = TypeVar("Name", bound=str)
LARGEST_ADDED = 1e290
"""A number in a scorer's details beyond this is nothing to average: sums of such leave what a float holds."""


@dataclass
class StageTally:
    """One stage over some runs."""

    applies: int = 0
    gated: int = 0
    outcomes: dict[Outcome, int] = field(default_factory=dict)
    rate: RateTally = field(default_factory=RateTally)
    scores: ExactSum = field(default_factory=ExactSum)
    metrics: dict[str, None] = field(default_factory=dict)
    """Names of the scores' metrics, as they came."""
    numbers: dict[str, NumberTally] = field(default_factory=dict)
    """Of each number among metrics and details: what is a metric may show later than its first value."""
    reasons: dict[str, None] = field(default_factory=dict)
    """The different ones of what was not measured."""

    def add(self, check: CheckResult) -> None:
        """The stage's check of the next run."""
        self.applies += 1
        self.gated += check.gating
        self.outcomes[check.outcome] = self.outcomes.get(check.outcome, 0) + 1
        if check.outcome == "not_measured":
            self.reasons[check.reason] = None
        if standing_of(check.outcome, check.error_source) != "unmeasured":
            self.rate.add(check.case_id, passed=check.outcome == "passed")
        if check.score is not None:
            self._add_score(check.case_id, check.score)

    def _add_score(self, case_id: str, score: Score) -> None:
        self.scores.add(score.value)
        self.metrics |= dict.fromkeys(score.metrics)
        for name, value in {**score.metrics, **score.details}.items():
            if isinstance(value, (int, float)) and abs(value) <= LARGEST_ADDED:
                known = isinstance(score.details.get(name), bool)
                self.numbers.setdefault(name, NumberTally()).add(case_id, value, yes_or_no=known)

    def merge(self, other: StageTally) -> None:
        """The checks of further cases."""
        self.applies += other.applies
        self.gated += other.gated
        _add_counts(self.outcomes, other.outcomes)
        self.rate.merge(other.rate)
        self.scores.merge(other.scores)
        self.metrics |= other.metrics
        self.reasons |= other.reasons
        for name, numbers in other.numbers.items():
            self.numbers.setdefault(name, NumberTally()).merge(numbers)

    def shorten(self) -> None:
        """Hold all numbers as short as they can be."""
        for numbers in (self.scores, *(tally.numbers for tally in self.numbers.values())):
            numbers.shorten()

    def summary(self, stage: Stage, flips: int) -> StageSummary:
        """The numbers over all checks; `flips` is of the stage's repeats."""
        shown = dict.fromkeys([*shown_metrics(stage), *self.metrics])
        return StageSummary(
            gating=stage.gating,
            applies=self.applies,
            scored=self.scores.count,
            errors=self.outcomes.get("error", 0),
            not_measured=self.outcomes.get("not_measured", 0),
            rate=self.rate.rate(),
            mean=self.scores.mean,
            metrics={name: _metric(self.numbers[name]) for name in shown if name in self.numbers},
            flips=flips,
            gated=self.gated,
            unmeasured_because=tuple(self.reasons),
        )


def shown_metrics(stage: Stage) -> list[str]:
    """The numbers that a stage's scorer has shown first, metrics or details, as its code alone tells."""
    return list(getattr(stage.scorer, "metric_labels", {}))


@dataclass
class ReportTally:
    """The rows of some cases of a report, repeats of a case one after the other: none of them is held."""

    outcomes: dict[Outcome, int] = field(default_factory=dict)
    measured: RateTally = field(default_factory=RateTally)
    runs: RateTally = field(default_factory=RateTally)
    costs: ExactSum = field(default_factory=ExactSum)
    runs_with_calls: int = 0
    not_passed: list[NotPassed] = field(default_factory=list)
    totals: dict[str, int] = field(default_factory=dict)
    """Of the fields of `RunTotals`."""
    stages: dict[str, StageTally] = field(default_factory=dict)
    repeats: list[CaseRepeats] = field(default_factory=list)

    def add_case(self, rows: Sequence[CaseReport]) -> None:
        """The rows of the next case, one a repeat."""
        for row in rows:
            self._add(row)
        if len(rows) > 1:
            self.repeats += sum_up_repeats(rows)

    def _add(self, row: CaseReport) -> None:
        case_id, passed = row.trace.case_id, row.outcome == "passed"
        if not passed:
            self.not_passed.append(NotPassed(self.runs.total, case_id, row.outcome))
        self.runs.add(case_id, passed=passed)
        self.outcomes[row.outcome] = self.outcomes.get(row.outcome, 0) + 1
        if standing_of(row.outcome, row.first_failure_source) != "unmeasured":
            self.measured.add(case_id, passed=passed)
        for name, check in row.checks.items():
            self.stages.setdefault(name, StageTally()).add(check)
        self._add_cost(row)
        _add_counts(self.totals, _totals(row))

    def _add_cost(self, row: CaseReport) -> None:
        costs = [row.trace.usage.cost] if row.trace.usage.calls else []
        costs += [check.cost for check in row.checks.values() if check.calls]
        self.runs_with_calls += bool(costs)
        if (cost := total_cost(costs)) is not None:
            self.costs.add(cost)

    def merge(self, other: ReportTally) -> None:
        """The rows of further cases, which come after these."""
        self.not_passed += [replace(found, place=found.place + self.runs.total) for found in other.not_passed]
        _add_counts(self.outcomes, other.outcomes)
        self.measured.merge(other.measured)
        self.runs.merge(other.runs)
        self.costs.merge(other.costs)
        self.runs_with_calls += other.runs_with_calls
        _add_counts(self.totals, other.totals)
        for name, stage in other.stages.items():
            self.stages.setdefault(name, StageTally()).merge(stage)
        self.repeats += other.repeats

    def shorten(self) -> None:
        """Hold all numbers as short as they can be."""
        self.costs.shorten()
        for stage in self.stages.values():
            stage.shorten()

    def summary(self, stages: Sequence[Stage]) -> ReportSummary:
        """The numbers over all rows; `stages` are the suite's."""
        flips = [stage for case in self.repeats for stage in case.flips]
        cost = CostSummary(self.costs.value, self.costs.count, self.runs_with_calls)
        return ReportSummary(
            cases=self.runs.distinct,
            runs=self.runs.total,
            outcomes={outcome: self.outcomes.get(outcome, 0) for outcome in OUTCOMES},
            rate=self.measured.rate(),
            repeated=tuple(self.repeats),
            stages={
                stage.name: self.stages.get(stage.name, StageTally()).summary(stage, flips.count(stage.name))
                for stage in stages
            },
            cost=cost if cost.runs else None,
            not_passed=tuple(self.not_passed),
            totals=RunTotals(**self.totals),
        )


def sum_up(rows: Iterable[CaseReport]) -> ReportTally:
    """What rows add up to, the repeats of a case one after the other."""
    tally = ReportTally()
    for _, repeats in groupby(rows, key=lambda row: row.trace.case_id):
        tally.add_case(list(repeats))
    return tally


def _totals(row: CaseReport) -> dict[str, int]:
    """What a row adds to the `RunTotals`."""
    usage, checks = row.trace.usage, row.checks.values()
    foreign = [check for check in checks if check.error_source not in (None, "system")]
    return {
        "calls": usage.calls,
        "called": usage.called,
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "tool_calls": len(row.trace.tool_calls),
        "judge_calls": sum(check.calls for check in checks),
        "judge_called": sum(check.called for check in checks),
        "judge_tokens": sum(check.tokens for check in checks),
        "gating_unmeasured": sum(check.gating and check.outcome == "not_measured" for check in checks),
        "faults": sum(check.gating or check.error_source == "provider" for check in foreign),
    }


def _add_counts(counts: dict[Name, int], more: Mapping[Name, int]) -> None:
    for name, count in more.items():
        counts[name] = counts.get(name, 0) + count


def _metric(tally: NumberTally) -> MetricSummary:
    return MetricSummary(tally.numbers.value / tally.numbers.count, tally.numbers.count, tally.rate)
