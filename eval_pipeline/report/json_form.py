"""A stage report as JSON: committed and compared byte for byte, so without times and cache counts."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from eval_pipeline.errors import SuiteError
from eval_pipeline.gating.outcomes import JudgeRecord
from eval_pipeline.report.case_reports import CaseReport
from eval_pipeline.report.repeats import count_by_steadiness
from eval_pipeline.report.stage_report import StageReport
from eval_pipeline.report.summary import MetricSummary, ReportSummary, StageSummary
from eval_pipeline.scores import CheckResult, Stage
from eval_pipeline.statistics import Rate
from eval_pipeline.suites import Cell
from eval_pipeline.warehouse.stored_text import indented_json, plain

ROW_FIELDS = frozenset(
    {
        "id",
        "repeat",
        "question",
        "answer",
        "calls",
        "judged",
        "outcome",
        "outcomes",
        "first_failure",
        "first_failure_outcome",
        "first_failure_source",
        "first_advisory_failure",
        "error",
    }
)
"""Fields of a row beside its stages: no stage can have one of these names."""


def report_json(report: StageReport) -> str:
    """The report as indented JSON text with a line end; equal reports give equal bytes."""
    cell, stages = report.cell, report.stages
    rows = ",".join(json_row(plain_row(row, cell, stages)) for row in report.rows)
    return f"{json_begin(cell, report.key, stages)}{rows}{json_end(report)}"


def json_begin(cell: Cell, key: Mapping[str, Any], stages: Sequence[Stage]) -> str:
    """What stands before the rows, which are put between by `json_row`, with a comma after each but the last.

    Raises:
        SuiteError: when a stage has the name of a row's own field.
    """
    return f'{indented_json(_begin(cell, key, stages))[:-2]},\n  "rows": ['


def json_row(data: Mapping[str, Any]) -> str:
    """A row as it stands in the report's JSON text."""
    return f"\n    {indented_json(data, 4)}"


def json_end(report: StageReport) -> str:
    """What stands after the rows."""
    end = "\n  " if report.rows else ""
    return f'{end}],\n  "summary": {indented_json(plain_summary(report), 2)}\n}}\n'


def report_data(report: StageReport) -> dict[str, Any]:
    """The report as plain JSON: `key`, `k`, `threshold` of the judged stages, `rows`, `summary`.

    Raises:
        SuiteError: when a stage has the name of a row's own field.
    """
    cell, stages = report.cell, report.stages
    return {
        **_begin(cell, report.key, stages),
        "rows": [plain_row(row, cell, stages) for row in report.rows],
        "summary": plain_summary(report),
    }


def plain_row(row: CaseReport, cell: Cell, stages: Sequence[Stage]) -> dict[str, Any]:
    """A row of a report as plain JSON."""
    data: dict[str, Any] = plain(_row(row, stages), f"report of {cell.partition}: rows")
    return data


def plain_summary(report: StageReport) -> dict[str, Any]:
    """The summary of a report as plain JSON."""
    data: dict[str, Any] = plain(_summary(report), f"report of {report.cell.partition}: summary")
    return data


def _begin(cell: Cell, key: Mapping[str, Any], stages: Sequence[Stage]) -> dict[str, Any]:
    taken = [stage.name for stage in stages if stage.name in ROW_FIELDS]
    if taken:
        raise SuiteError(
            f"suite {cell.suite!r}: a stage cannot be named {taken[0]!r}, which is a field of the "
            "report's rows; rename it in suite.yaml"
        )
    data = {"key": key, "k": key["k"], "threshold": _judged_threshold(stages)}
    begin: dict[str, Any] = plain(data, f"report of {cell.partition}")
    return begin


def _row(row: CaseReport, stages: Sequence[Stage]) -> dict[str, Any]:
    """One case and repeat: a block for each deterministic stage, and the judged ones under `judged`."""
    trace = row.trace
    blocks = {stage.name: _block(row.checks.get(stage.name)) for stage in stages}
    judged = {stage.name for stage in stages if stage.scorer.judged}
    return {
        "id": trace.case_id,
        "repeat": trace.repeat,
        "question": row.question,
        "answer": trace.answer,
        "calls": [call.name for call in trace.tool_calls],
        **{name: block for name, block in blocks.items() if name not in judged},
        "judged": {name: block for name, block in blocks.items() if name in judged},
        "outcome": row.outcome,
        "outcomes": {name: _outcome(check) for name, check in row.checks.items()},
        "first_failure": row.first_failure,
        "first_failure_outcome": row.first_failure_outcome,
        "first_failure_source": row.first_failure_source,
        "first_advisory_failure": row.first_advisory_failure,
        "error": None
        if trace.error is None
        else {"source": trace.error.source, "kind": trace.error.kind, "message": trace.error.message},
    }


def _block(check: CheckResult | None) -> dict[str, Any] | None:
    """What a stage says of a case; None when it does not apply."""
    if check is None:
        return None
    if check.outcome in ("error", "not_measured"):
        return {"error": check.reason, "error_source": check.error_source}
    score = check.score
    own = {
        "score": None if score is None else score.value,
        "pass": check.outcome == "passed",
        "reason": check.reason,
    }
    return {**own, **{name: value for name, value in _details(check).items() if name not in own}}


def _details(check: CheckResult) -> Mapping[str, Any]:
    return {} if check.score is None else check.score.details


def _outcome(check: CheckResult) -> dict[str, Any]:
    described: dict[str, Any] = {"outcome": check.outcome, "gating": check.gating}
    return described | ({"error_source": check.error_source} if check.outcome == "error" else {})


def _judged_threshold(stages: Sequence[Stage]) -> float | None:
    """The one threshold of the judged stages; None where there is none, or where they differ."""
    thresholds = {stage.threshold for stage in stages if stage.scorer.judged}
    return thresholds.pop() if len(thresholds) == 1 else None


def _summary(report: StageReport) -> dict[str, Any]:
    summary = report.summary
    judged = [stage.name for stage in report.stages if stage.scorer.judged]
    records = {name: {"judge_record": _record(report.records.get(name))} for name in judged}
    cost = {} if summary.cost is None else {"cost": dataclasses.asdict(summary.cost)}
    return {
        "cases": summary.cases,
        "runs": summary.runs,
        "passed": summary.rate.passed,
        "pass_rate": _rate(summary.rate),
        "not_passed": not_passed(report),
        "outcomes": dict(summary.outcomes),
        **_repeats(summary),
        "stages": {
            name: _stage(stage) | ({"flips": stage.flips} if summary.repeated else {}) | records.get(name, {})
            for name, stage in summary.stages.items()
        },
        **cost,
    }


def not_passed(report: StageReport) -> list[str]:
    """The ids of the cases that did not pass in every repeat, in the dataset's order."""
    return list(dict.fromkeys(run.case_id for run in report.summary.not_passed))


def _repeats(summary: ReportSummary) -> dict[str, Any]:
    """The cases by steadiness, and each over its repeats; nothing where each was run once."""
    if not summary.repeated:
        return {}
    cases = [
        {
            "id": case.case_id,
            "passed": case.passed,
            "measured": case.measured,
            "runs": case.runs,
            "flaky": case.steadiness == "flaky",
            "flips": list(case.flips),
        }
        for case in summary.repeated
    ]
    return {"repeats": {**count_by_steadiness(summary.repeated), "cases": cases}}


def _record(record: JudgeRecord | None) -> dict[str, Any] | None:
    """The judge's record on its calibration cases; None of one that was never calibrated."""
    return None if record is None else record.model_dump(mode="json")


def _stage(stage: StageSummary) -> dict[str, Any]:
    return {
        "gating": stage.gating,
        "applies": stage.applies,
        "scored": stage.scored,
        "errors": stage.errors,
        "not_measured": stage.not_measured,
        "passed": stage.rate.passed,
        "pass_rate": _rate(stage.rate),
        "mean": stage.mean,
        "metrics": {name: _metric(metric) for name, metric in stage.metrics.items()},
    }


def _metric(metric: MetricSummary) -> dict[str, Any]:
    described: dict[str, Any] = {"mean": metric.mean, "count": metric.count}
    return described if metric.rate is None else {**described, "rate": _rate(metric.rate)}


def _rate(rate: Rate) -> dict[str, Any]:
    low, high = rate.interval
    cases = {} if rate.cases is None else {"cases": rate.cases}
    return {"passed": rate.passed, "of": rate.total, **cases, "value": rate.value, "low": low, "high": high}
