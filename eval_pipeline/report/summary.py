"""The numbers of a report: how many cases passed, and per stage what was measured on how many of them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args

from eval_pipeline.errors import ErrorSource
from eval_pipeline.gating.check_states import standing_of
from eval_pipeline.prices import total_cost
from eval_pipeline.report.case_reports import CaseReport
from eval_pipeline.report.repeats import CaseRepeats, sum_up_repeats
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


def summarise(rows: Sequence[CaseReport], stages: Sequence[Stage]) -> ReportSummary:
    """The numbers over the runs of one cell."""
    outcomes = Counter(row.outcome for row in rows)
    cases = len({row.trace.case_id for row in rows})
    repeated = sum_up_repeats(rows) if len(rows) > cases else ()
    flips = Counter(stage for case in repeated for stage in case.flips)
    return ReportSummary(
        cases=cases,
        runs=len(rows),
        outcomes={outcome: outcomes[outcome] for outcome in OUTCOMES},
        rate=rate_of_runs((row.trace.case_id, row.outcome, row.first_failure_source) for row in rows),
        repeated=repeated,
        stages={
            stage.name: _summarise_stage(
                stage,
                [row.checks[stage.name] for row in rows if stage.name in row.checks],
                flips[stage.name],
            )
            for stage in stages
        },
        cost=_summarise_cost(rows),
    )


def _summarise_cost(rows: Sequence[CaseReport]) -> CostSummary | None:
    runs = [[*_agent_costs(row), *_judge_costs(row)] for row in rows]
    made = [total_cost(costs) for costs in runs if costs]
    known = [cost for cost in made if cost is not None]
    return CostSummary(math.fsum(known), len(known), len(made)) if known else None


def _agent_costs(row: CaseReport) -> list[float | None]:
    return [row.trace.usage.cost] if row.trace.usage.calls else []


def _judge_costs(row: CaseReport) -> list[float | None]:
    return [check.cost for check in row.checks.values() if check.calls]


def _summarise_stage(stage: Stage, checks: Sequence[CheckResult], flips: int) -> StageSummary:
    scored = [(check.case_id, check.score) for check in checks if check.score is not None]
    scores = [score for _, score in scored]
    labelled: Mapping[str, str] = getattr(stage.scorer, "metric_labels", {})
    names = dict.fromkeys([*labelled, *(name for score in scores for name in score.metrics)])
    metrics = {name: _summarise_metric(name, scored) for name in names}
    return StageSummary(
        gating=stage.gating,
        applies=len(checks),
        scored=len(scores),
        errors=sum(check.outcome == "error" for check in checks),
        not_measured=sum(check.outcome == "not_measured" for check in checks),
        rate=rate_of_runs((check.case_id, check.outcome, check.error_source) for check in checks),
        mean=_mean([score.value for score in scores]) if scores else None,
        metrics={name: metric for name, metric in metrics.items() if metric is not None},
        flips=flips,
    )


def _summarise_metric(name: str, scored: Sequence[tuple[str, Score]]) -> MetricSummary | None:
    """A metric over the scores that have it, be it among their details alone; None when none has.

    Args:
        name: the metric.
        scored: scores with their case's id.
    """
    found = [(case, value, score) for case, score in scored if _is_number(value := measure(score, name))]
    if not found:
        return None
    values = [float(value) for _, value, _ in found]
    yes_or_no = all(isinstance(score.details.get(name), bool) for _, _, score in found)
    rate = _rate_of(values.count(1), [case for case, _, _ in found]) if yes_or_no else None
    return MetricSummary(_mean(values), len(values), rate)


def measure(score: Score, name: str) -> Any:
    """What a score says under a name: among its details first, for they keep yes and no, then its metrics."""
    return score.details.get(name, score.metrics.get(name))


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and math.isfinite(value)


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def rate_of_runs(outcomes: Iterable[tuple[str, Outcome, ErrorSource | None]]) -> Rate:
    """Passed of measured, from case ids with outcomes and error sources; its interval counts cases."""
    measured = [
        (case, outcome) for case, outcome, source in outcomes if standing_of(outcome, source) != "unmeasured"
    ]
    passed = sum(outcome == "passed" for _, outcome in measured)
    return _rate_of(passed, [case for case, _ in measured])


def _rate_of(passed: int, cases: Sequence[str]) -> Rate:
    """A rate over runs, of which `cases` says whose they are, with the number of cases where that is less."""
    distinct = len(set(cases))
    return Rate(passed, len(cases), distinct if distinct < len(cases) else None)
