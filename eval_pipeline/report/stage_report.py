"""A stage report: for one cell, which case fails at which stage first, and what that adds up to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from eval_pipeline.gating.outcomes import JudgeRecord
from eval_pipeline.report.case_reports import CaseReport, report_case
from eval_pipeline.report.key import report_key
from eval_pipeline.report.repeats import count_by_steadiness
from eval_pipeline.report.summary import ReportSummary, summarise
from eval_pipeline.scores import CheckResult, Stage
from eval_pipeline.stored_runs import refuse_other_runs, refuse_stored, run_names
from eval_pipeline.suites import Cell, Suite
from eval_pipeline.traces import AgentTrace


@dataclass(frozen=True)
class StageReport:
    """One candidate on one dataset, case by case."""

    cell: Cell
    key: Mapping[str, Any]
    """What the numbers depend on; see `report_key`."""
    stages: tuple[Stage, ...]
    rows: tuple[CaseReport, ...]
    """In the dataset's order, repeat after repeat."""
    summary: ReportSummary
    records: Mapping[str, JudgeRecord] = field(default_factory=dict)
    """The judge's record on its calibration cases, by judged stage."""

    def numbers(self) -> dict[str, int | float]:
        """The numbers worth plotting over time; what was not measured is left out."""
        summary = self.summary
        usage = [row.trace.usage for row in self.rows]
        judged = [check for row in self.rows for check in row.checks.values()]
        numbers: dict[str, int | float | None] = {
            "cases": summary.cases,
            **_repeat_numbers(summary),
            **{str(outcome): count for outcome, count in summary.outcomes.items()},
            "pass_rate": summary.rate.value,
            "calls": sum(used.calls for used in usage),
            "called": sum(used.called for used in usage),
            "replayed": sum(used.replayed for used in usage),
            "input_tokens": sum(used.input_tokens for used in usage),
            "output_tokens": sum(used.output_tokens for used in usage),
            "judge_calls": sum(check.calls for check in judged),
            "judge_called": sum(check.called for check in judged),
            "judge_tokens": sum(check.tokens for check in judged),
            "cost": summary.cost.usd if summary.cost and summary.cost.runs == summary.cost.of else None,
        }
        for name, stage in summary.stages.items():
            numbers[f"{name}_rate"] = stage.rate.value
            numbers |= {f"{name}_{metric}": found.mean for metric, found in stage.metrics.items()}
        return {name: number for name, number in numbers.items() if number is not None}


def _repeat_numbers(summary: ReportSummary) -> dict[str, int]:
    if not summary.repeated:
        return {}
    return {"runs": summary.runs, "flaky": count_by_steadiness(summary.repeated)["flaky"]}


def build_report(
    suite: Suite,
    cell: Cell,
    traces: Sequence[AgentTrace],
    checks: Sequence[CheckResult],
    records: Mapping[str, JudgeRecord] | None = None,
) -> StageReport:
    """The report of a cell.

    Args:
        suite: declares the stages, in order, and the cell's cases.
        cell: the candidate and dataset.
        traces: one for each case and repeat.
        checks: the outcomes of these traces, one for each stage that applies.
        records: the judge's record by stage; a judged stage not in it has an uncalibrated judge.

    Raises:
        EvalError: when a run has no trace, a trace no run, or an outcome no stage or trace: a report that
            left it out would count less than it says.
    """
    cases = {case.id: case for case in suite.datasets[cell.dataset].cases}
    _refuse_leftovers(suite, cell, traces, checks)
    by_trace: dict[tuple[str, int], list[CheckResult]] = {}
    for check in checks:
        by_trace.setdefault((check.case_id, check.repeat), []).append(check)
    order = {case_id: place for place, case_id in enumerate(cases)}
    rows = tuple(
        report_case(
            cases[trace.case_id], trace, by_trace.get((trace.case_id, trace.repeat), []), suite.stages
        )
        for trace in sorted(traces, key=lambda trace: (order[trace.case_id], trace.repeat))
    )
    key, summary = report_key(suite, cell), summarise(rows, suite.stages)
    return StageReport(cell, key, suite.stages, rows, summary, records or {})


def _refuse_leftovers(
    suite: Suite, cell: Cell, traces: Sequence[AgentTrace], checks: Sequence[CheckResult]
) -> None:
    traced = {(trace.case_id, trace.repeat) for trace in traces}
    refuse_other_runs(suite, cell, lambda: traced)
    surplus = {
        "outcomes of no trace": run_names({(check.case_id, check.repeat) for check in checks} - traced),
        "outcomes of no stage": sorted(
            {check.stage for check in checks} - {stage.name for stage in suite.stages}
        ),
    }
    refuse_stored(cell, surplus)
