"""A stage report as a table of words: the same cells for terminals and for Markdown."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from eval_pipeline.prices import dollars
from eval_pipeline.report.case_reports import CaseReport
from eval_pipeline.report.repeats import repeat_lines
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
    """The columns: case, tools called where they matter, those of each stage, first failure."""
    stages = [heading for stage in _shown_stages(report) for heading in _columns(report, stage).values()]
    repeat = ["repeat"] if _repeats(report) else []
    tools = ["tools called"] if _has_tools(report) else []
    return ["case", *repeat, *tools, *stages, "first failure"]


def table_rows(report: StageReport, most: int | None = None) -> list[list[TableCell]]:
    """A row for each case and repeat, with a cell for each heading; `most` of them, see `first_rows`."""
    details = [(stage.name, detail) for stage in _shown_stages(report) for detail in _columns(report, stage)]
    rows = report.rows if most is None else report.first_rows(most)
    repeats, tools = _repeats(report), _has_tools(report)
    return [_row(row, details, repeats, tools) for row in rows]


def summary_lines(report: StageReport) -> list[tuple[str, str]]:
    """What the rows add up to, as label and text; rates with count and 95 % interval."""
    summary = report.summary
    outcomes = (f"{n} {outcome.replace('_', ' ')}" for outcome, n in summary.outcomes.items() if n)
    noun = "runs" if _repeats(report) else "cases"
    lines = [(noun, f"{summary.runs}: {', '.join(outcomes)}"), ("passed", str(summary.rate))]
    lines += _repeat_lines(report)
    for stage in report.stages:
        numbers = summary.stages[stage.name]
        lines.append((stage.name, _stage_line(report, stage, numbers, noun)))
        for name, metric in numbers.metrics.items():
            label = with_k(getattr(stage.scorer, "metric_labels", {}).get(name, name), report)
            text = (
                f"{shown(metric.mean, 3)} over {_counted(metric.count, noun)}"
                if metric.rate is None
                else str(metric.rate)
            )
            lines.append((f"  {label}", text + _coverage(metric.count, numbers.applies)))
    if cost := summary.cost:
        lines.append(("cost", f"{dollars(cost.usd)} at list price{_coverage(cost.runs, cost.of, 'priced')}"))
    lines += [("not measured", remedy) for remedy in _remedies(report)]
    if waiting := [stage.name for stage in report.stages if _waits_for_calibration(report, stage)]:
        lines.append(("advisory", _calibration_remedy(report, waiting)))
    return lines


def _repeat_lines(report: StageReport) -> list[tuple[str, str]]:
    advisory = {stage.name for stage in report.stages if _is_advisory(report, stage)}
    return list(repeat_lines(report.summary.repeated, advisory))


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


def scaled(value: float, stage: Stage) -> str:
    """A score from 0 to 1 in the scale of its stage's scorer, in which thresholds are written."""
    low, high = getattr(stage.scorer, "scale", (0, 1))
    return shown(value) if (low, high) == (0, 1) else f"{low + value * (high - low):g}"


def _shown_stages(report: StageReport) -> list[Stage]:
    """The stages with columns: not one that only advises and measured nothing; the summary tells of it."""
    return [stage for stage in report.stages if not _is_advisory(report, stage) or _measured(report, stage)]


def _measured(report: StageReport, stage: Stage) -> bool:
    numbers = report.summary.stages[stage.name]
    return numbers.not_measured < numbers.applies or not numbers.applies


def _columns(report: StageReport, stage: Stage) -> Mapping[str | None, str]:
    """A stage's headings by detail, in brackets when it does not gate.

    Under None stands the column that says how the stage came out.
    """
    named: Mapping[str | None, str] = getattr(stage.scorer, "columns", {}) or {None: stage.name}
    wrap = "({})" if _is_advisory(report, stage) else "{}"
    return {detail: wrap.format(with_k(heading, report)) for detail, heading in named.items()}


def _is_advisory(report: StageReport, stage: Stage) -> bool:
    numbers = report.summary.stages[stage.name]
    return not numbers.gated if numbers.applies else stage.gating != "always"


def _row(
    row: CaseReport, details: list[tuple[str, str | None]], repeats: bool, tools: bool
) -> list[TableCell]:
    calls = ", ".join(_calls(row))
    return [
        TableCell(row.trace.case_id, foreign=True),
        *([TableCell(str(row.trace.repeat))] if repeats else []),
        *([TableCell(calls, foreign=True) if calls else TableCell(NONE)] if tools else []),
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


def _stage_line(report: StageReport, stage: Stage, numbers: StageSummary, noun: str) -> str:
    if not numbers.applies:
        return f"applies to no {noun[:-1]}"
    parts = [str(numbers.rate) if numbers.rate.total else "nothing measured"]
    if numbers.mean is not None and stage.scorer.judged and not hasattr(stage.scorer, "scale"):
        parts.append(f"mean {shown(numbers.mean, 3)} over {_counted(numbers.scored, noun)}")
    elif numbers.mean is not None and not numbers.metrics and numbers.mean != numbers.rate.value:
        parts.append(f"mean {shown(numbers.mean, 3)}")
    if numbers.errors:
        parts.append(f"{numbers.errors} error{'s' if numbers.errors > 1 else ''}")
    if numbers.flips:
        parts.append(f"flips in {numbers.flips} case{'s' if numbers.flips > 1 else ''}")
    if numbers.not_measured:
        parts.append(f"{numbers.not_measured} not measured{_why_unmeasured(report, stage)}")
    if numbers.gating != "always":
        parts.append("never gates" if numbers.gating == "never" else _calibration_note(report, stage))
    return ", ".join(parts) + _coverage(numbers.scored, numbers.applies)


def _why_unmeasured(report: StageReport, stage: Stage) -> str:
    """The reason, where all that was not measured has the same one; the remedy has a line of its own."""
    reasons = _unmeasured_reasons(report, stage)
    return f" ({reasons.pop().partition('; ')[0]})" if len(reasons) == 1 else ""


def _remedies(report: StageReport) -> list[str]:
    """What to do about checks that were not measured, each once."""
    reasons = [reason for stage in report.stages for reason in _unmeasured_reasons(report, stage)]
    return list(dict.fromkeys(remedy for reason in reasons if (remedy := reason.partition("; ")[2])))


def _unmeasured_reasons(report: StageReport, stage: Stage) -> list[str]:
    return list(report.summary.stages[stage.name].unmeasured_because)


def _calibration_note(report: StageReport, stage: Stage) -> str:
    """Whether a stage that gates when its judge is calibrated does, with what the judge has shown."""
    unknown = "no calibration cases" if report.records else "judge not calibrated"
    told = str(report.records.get(stage.name) or unknown)
    return f"advisory: {told}" if _is_advisory(report, stage) else f"gates: {told}"


def _waits_for_calibration(report: StageReport, stage: Stage) -> bool:
    judged = stage.gating == "when_calibrated" and stage.name not in report.records
    return judged and report.summary.stages[stage.name].applies > 0


def _calibration_remedy(report: StageReport, waiting: list[str]) -> str:
    """What lets stages gate that have no record: a calibration, or cases in it where the others have one."""
    if report.records:
        return f"write cases into calibration.yaml for: {', '.join(waiting)}"
    return f"calibrate with: eval-pipeline calibrate {report.cell.suite}"


def _coverage(scored: int, applies: int, done: str = "scored") -> str:
    return "" if scored == applies else f", {scored}/{applies} {done}"


def _counted(count: int, noun: str) -> str:
    """A number of `cases` or `runs`."""
    return f"{count} {noun[:-1] if count == 1 else noun}"


def _has_tools(report: StageReport) -> bool:
    """Whether tools were called, or a stage reads which ones a case expects."""
    expected = any("tools" in stage.scorer.Expected.model_fields for stage in report.stages)
    return expected or report.summary.totals.tool_calls > 0


def _repeats(report: StageReport) -> bool:
    return report.summary.runs > report.summary.cases
