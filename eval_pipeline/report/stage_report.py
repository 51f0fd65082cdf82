"""A stage report: for one cell, which case fails at which stage first, and what that adds up to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from eval_pipeline.gating.outcomes import JudgeRecord
from eval_pipeline.report.case_reports import CaseReport, report_case
from eval_pipeline.report.key import report_key
from eval_pipeline.report.repeats import count_by_steadiness
from eval_pipeline.report.stored_rows import StoredRows
from eval_pipeline.report.summary import ReportSummary
from eval_pipeline.report.summing_up import ReportTally, sum_up
from eval_pipeline.scores import CheckResult, Stage
from eval_pipeline.stored_runs import refuse_other_runs, refuse_stored, run_names
from eval_pipeline.suites import Cell, Suite
from eval_pipeline.traces import AgentTrace

SHOWN_ROWS = 500
"""Rows that are shown of a long report; all of them are stored."""


@dataclass(frozen=True)
class StageReport:
    """One candidate on one dataset, case by case."""

    cell: Cell
    key: Mapping[str, Any]
    """What the numbers depend on; see `report_key`."""
    stages: tuple[Stage, ...]
    rows: Sequence[CaseReport]
    """In the dataset's order, repeat after repeat; of a stored report, read as they are asked for."""
    summary: ReportSummary
    records: Mapping[str, JudgeRecord] = field(default_factory=dict)
    """The judge's record on its calibration cases, by judged stage."""
    _shown: dict[int, Sequence[CaseReport]] = field(default_factory=dict, repr=False, compare=False)
    """What `first_rows` has given."""

    def first_rows(self, most: int) -> Sequence[CaseReport]:
        """All rows, or `most` of them: those that did not pass, then the others, in the report's order."""
        if len(self.rows) <= most:
            return self.rows
        if most not in self._shown:
            self._shown[most] = self._read_first(most)
        return self._shown[most]

    def _read_first(self, most: int) -> Sequence[CaseReport]:
        not_passed = [found.place for found in self.summary.not_passed]
        passed = set(range(len(self.rows))).difference(not_passed)
        places = sorted([*not_passed[:most], *sorted(passed)][:most])
        return self.rows.at(places) if isinstance(self.rows, StoredRows) else [self.rows[i] for i in places]

    def numbers(self) -> dict[str, int | float]:
        """The numbers worth plotting over time; what was not measured is left out."""
        summary, totals = self.summary, self.summary.totals
        numbers: dict[str, int | float | None] = {
            "cases": summary.cases,
            **_repeat_numbers(summary),
            **{str(outcome): count for outcome, count in summary.outcomes.items()},
            "pass_rate": summary.rate.value,
            "calls": totals.calls,
            "called": totals.called,
            "replayed": totals.calls - totals.called,
            "input_tokens": totals.input_tokens,
            "output_tokens": totals.output_tokens,
            "judge_calls": totals.judge_calls,
            "judge_called": totals.judge_called,
            "judge_tokens": totals.judge_tokens,
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
    dataset = suite.datasets[cell.dataset]
    _refuse_leftovers(suite, cell, traces, checks)
    by_trace: dict[tuple[str, int], list[CheckResult]] = {}
    for check in checks:
        by_trace.setdefault((check.case_id, check.repeat), []).append(check)
    rows = tuple(
        report_case(
            dataset.case(trace.case_id), trace, by_trace.get((trace.case_id, trace.repeat), []), suite.stages
        )
        for trace in sorted(traces, key=lambda trace: (dataset.places[trace.case_id], trace.repeat))
    )
    return make_report(suite, cell, rows, records)


def make_report(
    suite: Suite,
    cell: Cell,
    rows: Sequence[CaseReport],
    records: Mapping[str, JudgeRecord] | None = None,
    tally: ReportTally | None = None,
) -> StageReport:
    """The report of these rows.

    Args:
        suite: declares the stages, in order, and the cell's cases.
        cell: the candidate and dataset.
        rows: one for each case and repeat, in the dataset's order.
        records: as for `build_report`.
        tally: what the rows add up to; left out, they are gone through.
    """
    return StageReport(
        cell=cell,
        key=report_key(suite, cell),
        stages=suite.stages,
        rows=rows,
        summary=(tally or sum_up(rows)).summary(suite.stages),
        records=records or {},
    )


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
