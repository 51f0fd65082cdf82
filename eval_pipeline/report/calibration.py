"""A judge's calibration in words: what it caught, missed and flagged wrongly, by metric and by case."""

from __future__ import annotations

from collections.abc import Sequence

from eval_pipeline.calibration import CalibrationScore, Minimums
from eval_pipeline.calibration_runs import calibrated_stages
from eval_pipeline.calibration_summary import CaseVerdict, MetricCalibration, summarise_calibration
from eval_pipeline.report.inert_text import markdown_code, markdown_text, visible
from eval_pipeline.report.table import scaled
from eval_pipeline.report.text import aligned
from eval_pipeline.scores import Stage
from eval_pipeline.suites import Suite

HEADINGS = ["metric", "caught", "missed", "false alarms", "flips", "unmeasured", "kappa", "calibrated"]
CASE_HEADINGS = ["case", "metric", "expected", "scores", "needs", "verdict"]


def calibration_text(suite: Suite, key: str, scores: Sequence[CalibrationScore]) -> str:
    """The calibration as aligned plain text with a line end."""
    metrics = _metrics(suite, scores)
    lines = [
        f"{suite.name}: calibration of judge {key}",
        "",
        *aligned([HEADINGS, *(_row(metric) for metric in metrics)]),
        "",
        *aligned([CASE_HEADINGS, *_case_rows(suite, metrics)]),
    ]
    return "\n".join(visible(line) for line in lines) + "\n"


def calibration_markdown(suite: Suite, key: str, scores: Sequence[CalibrationScore]) -> str:
    """The calibration as Markdown with a line end, for the asset's page."""
    metrics = _metrics(suite, scores)
    lines = [f"### {markdown_text(suite.name)}: calibration of judge {markdown_code(key)}", ""]
    lines += _table(HEADINGS, [_row(metric) for metric in metrics])
    lines += ["", *_table(CASE_HEADINGS, _case_rows(suite, metrics))]
    return "\n".join(lines) + "\n"


def _metrics(suite: Suite, scores: Sequence[CalibrationScore]) -> list[MetricCalibration]:
    minimums = Minimums() if suite.calibration is None else suite.calibration.minimums
    return list(summarise_calibration(scores, minimums).values())


def _row(metric: MetricCalibration) -> list[str]:
    record = metric.record
    return [
        metric.metric,
        f"{record.caught} of {record.defects}",
        str(metric.missed),
        f"{record.false_alarms} of {record.sound}",
        str(metric.flips),
        str(metric.unmeasured),
        _kappa_text(metric),
        "yes" if record.calibrated else f"no: {'; '.join(metric.lacking)}",
    ]


def _kappa_text(metric: MetricCalibration) -> str:
    if metric.kappa is not None:
        return f"{metric.kappa:.2f}"
    return "undefined: one class" if any(v.measured for v in metric.verdicts) else "undefined: nothing scored"


def _case_rows(suite: Suite, metrics: Sequence[MetricCalibration]) -> list[list[str]]:
    stages = calibrated_stages(suite)
    return [
        _case_row(metric, verdict, stages[metric.metric]) for metric in metrics for verdict in metric.verdicts
    ]


def _case_row(metric: MetricCalibration, verdict: CaseVerdict, stage: Stage) -> list[str]:
    """Scores and threshold in the scale of the stage's scorer."""
    scores = " ".join("error" if score is None else scaled(score, stage) for score in verdict.scores)
    needs = scaled(stage.threshold, stage)
    return [verdict.case_id, metric.metric, verdict.expected, scores, needs, verdict_word(verdict)]


def verdict_word(verdict: CaseVerdict) -> str:
    """What a case came to: caught, missed, sound, a false alarm, or not measured."""
    if not verdict.measured:
        return "not measured"
    if verdict.expected == "defect":
        return "caught" if verdict.caught else "missed"
    return "false alarm" if verdict.false_alarm else "sound"


def _table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    lines = [headings, ["---"] * len(headings), *([markdown_text(cell) for cell in row] for row in rows)]
    return [f"| {' | '.join(line)} |" for line in lines]
