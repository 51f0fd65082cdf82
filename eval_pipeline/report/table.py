"""A stage report as a table of words: the same cells for terminals and for Markdown."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from eval_pipeline.report.case_reports import CaseReport
from eval_pipeline.report.stage_report import StageReport
from eval_pipeline.report.summary import StageSummary, measure
from eval_pipeline.scores import CheckResult, Stage

NONE = "–"
"""Stands where a stage does not apply or nothing failed."""


@dataclass(frozen=True)
class TableCell:
    """One cell: our own word, or text that someone else wrote."""

    text: str
    foreign: bool = False


def table_headings(report: StageReport) -> list[str]:
    """The columns: case, tools called, those of each stage, first failure."""
    stages = [heading for stage in report.stages for heading in _columns(report, stage).values()]
    repeat = ["repeat"] if _repeats(report) else []
    return ["case", *repeat, "tools called", *stages, "first failure"]


def table_rows(report: StageReport) -> list[list[TableCell]]:
    """A row for each case and repeat, with a cell for each heading."""
    details = [(stage.name, detail) for stage in report.stages for detail in _columns(report, stage)]
    return [_row(row, details, _repeats(report)) for row in report.rows]


def summary_lines(report: StageReport) -> list[tuple[str, str]]:
    """What the rows add up to, as label and text; rates with count and 95 % interval."""
    summary = report.summary
    outcomes = (f"{n} {outcome.replace('_', ' ')}" for outcome, n in summary.outcomes.items() if n)
    noun = "runs" if _repeats(report) else "cases"
    lines = [(noun, f"{summary.runs}: {', '.join(outcomes)}"), ("passed", str(summary.rate))]
    for stage in report.stages:
        numbers = summary.stages[stage.name]
        lines.append((stage.name, _stage_line(numbers, noun)))
        for name, metric in numbers.metrics.items():
            label = with_k(getattr(stage.scorer, "metric_labels", {}).get(name, name), report)
            text = (
                f"{shown(metric.mean, 3)} over {metric.count} {noun}"
                if metric.rate is None
                else str(metric.rate)
            )
            lines.append((f"  {label}", text + _coverage(metric.count, numbers.applies)))
    return lines


def with_k(label: str, report: StageReport) -> str:
    """`hit@k` as `hit@3`, when the candidate has a parameter k."""
    k = report.key["k"]
    return label if k is None else re.sub(r"@k\b", f"@{k}", label)


def shown(value: float, digits: int = 2) -> str:
    """A share rounded for reading, never to a full 1 or 0 that it is not."""
    step = 10**-digits
    if 0 < value < 1:
        value = min(max(value, step), 1 - step)
    return f"{value:.{digits}f}"


def _columns(report: StageReport, stage: Stage) -> Mapping[str | None, str]:
    """A stage's headings by detail, in brackets when it does not gate.

    Under None stands the column that says how the stage came out.
    """
    named: Mapping[str | None, str] = getattr(stage.scorer, "columns", {}) or {None: stage.name}
    wrap = "({})" if _is_advisory(report, stage) else "{}"
    return {detail: wrap.format(with_k(heading, report)) for detail, heading in named.items()}


def _is_advisory(report: StageReport, stage: Stage) -> bool:
    checks = [row.checks[stage.name] for row in report.rows if stage.name in row.checks]
    return not any(check.gating for check in checks) if checks else stage.gating != "always"


def _row(row: CaseReport, details: list[tuple[str, str | None]], repeats: bool) -> list[TableCell]:
    calls = ", ".join(_calls(row))
    return [
        TableCell(row.trace.case_id, foreign=True),
        *([TableCell(str(row.trace.repeat))] if repeats else []),
        TableCell(calls, foreign=True) if calls else TableCell(NONE),
        *(_cell(row.checks.get(stage), detail) for stage, detail in details),
        TableCell(first_failure_text(row)),
    ]


def _calls(row: CaseReport) -> Iterator[str]:
    """The tools in the order called, one called again and again with its count."""
    for name, calls in groupby(call.name for call in row.trace.tool_calls):
        times = len(list(calls))
        yield f"{name} ×{times}" if times > 1 else name


def _cell(check: CheckResult | None, detail: str | None) -> TableCell:
    if check is None:
        return TableCell(NONE)
    if check.outcome in ("error", "not_measured"):
        return TableCell(check.outcome.replace("_", " "))
    if detail is not None:
        return _value(None if check.score is None else measure(check.score, detail))
    word = "pass" if check.outcome == "passed" else "fail"
    partial = check.score is not None and 0 < check.score.value < 1
    return TableCell(f"{word} {shown(check.score.value)}" if check.score and partial else word)


def _value(value: Any) -> TableCell:
    if value is None:
        return TableCell(NONE)
    if isinstance(value, bool):
        return TableCell("yes" if value else "no")
    if isinstance(value, float) and math.isfinite(value):
        return TableCell(shown(value))
    return TableCell(str(value), foreign=True)


def first_failure_text(row: CaseReport) -> str:
    """Where a case failed first, saying when that was an error instead of a failure."""
    if row.first_failure is None:
        return "not measured" if row.outcome == "not_measured" else NONE
    if row.first_failure_outcome == "error":
        return f"{row.first_failure} (error: {row.first_failure_source})"
    return row.first_failure + (" (not measured)" if row.first_failure_outcome == "not_measured" else "")


def _stage_line(stage: StageSummary, noun: str) -> str:
    if not stage.applies:
        return f"applies to no {noun[:-1]}"
    parts = [str(stage.rate) if stage.rate.total else "nothing measured"]
    if stage.mean is not None and not stage.metrics and stage.mean != stage.rate.value:
        parts.append(f"mean {shown(stage.mean, 3)}")
    if stage.errors:
        parts.append(f"{stage.errors} error{'s' if stage.errors > 1 else ''}")
    if stage.not_measured:
        parts.append(f"{stage.not_measured} not measured")
    if stage.gating != "always":
        parts.append("never gates" if stage.gating == "never" else "gates when calibrated")
    return ", ".join(parts) + _coverage(stage.scored, stage.applies)


def _coverage(scored: int, applies: int) -> str:
    return "" if scored == applies else f", {scored}/{applies} scored"


def _repeats(report: StageReport) -> bool:
    return report.summary.runs > report.summary.cases
