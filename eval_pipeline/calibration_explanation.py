"""One calibration case in words: what is known of it, and what the judge says of it in each repeat."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from eval_pipeline.calibration import CalibrationCase, CalibrationScore
from eval_pipeline.calibration_results import read_calibration_scores
from eval_pipeline.calibration_runs import calibrate, calibrated_stages
from eval_pipeline.errors import CaseError, NotStoredError
from eval_pipeline.evaluation import Evaluation
from eval_pipeline.explanation import detail_lines, entry, printable
from eval_pipeline.report.table import NONE, scaled
from eval_pipeline.scores import Stage
from eval_pipeline.suggestions import did_you_mean
from eval_pipeline.suites import Suite


def explain_calibration_case(evaluation: Evaluation, suite: Suite, key: str, case_id: str) -> str:
    """The stored scores of a calibration case; replayed when nothing is stored.

    Raises:
        CaseError: when the suite has no such calibration case.
        RecordingMisses: when the recordings do not answer, with what differs.
    """
    cases = {case.id: case for case in (suite.calibration.cases if suite.calibration else ())}
    if case_id not in cases:
        raise CaseError(f"{suite.name}: no calibration case {case_id!r}{did_you_mean(case_id, list(cases))}")
    try:
        scores = read_calibration_scores(evaluation.shared_warehouse, suite, key)
    except NotStoredError:
        scores = calibrate(suite, suite.judges[key], lambda: evaluation.open_recordings(suite)).scores
    found = [score for score in scores if score.case_id == case_id]
    blocks = [
        f"suite      {suite.name}",
        f"judge      {key}",
        _case_text(cases[case_id]),
        _scores_text(found, calibrated_stages(suite)),
    ]
    return "\n".join(printable(block) for block in blocks)


def _case_text(case: CalibrationCase) -> str:
    lines = [
        entry("case", case.id),
        entry("expected", f"{case.expected}{f': {case.wrong}' if case.wrong else ''}"),
        "",
        entry("question", case.input),
        *(entry("context" if number == 0 else "", text) for number, text in enumerate(case.context)),
    ]
    lines += [entry("answer", case.answer)] if case.answer else []
    lines += [entry("reference", case.reference)] if case.reference else []
    return "\n".join(lines)


def _scores_text(scores: Sequence[CalibrationScore], stages: Mapping[str, Stage]) -> str:
    lines = ["scores"]
    for score in scores:
        value = NONE if score.score is None else scaled(score.score, stages[score.metric])
        flag = {"passed": "no defect seen", "failed": "defect seen"}.get(
            score.outcome, f"{score.outcome} ({score.error_source})"
        )
        where = score.metric if score.judge is None else f"{score.metric}, repeat {score.judge_repeat + 1}"
        lines.append(f"  {where:<30} {value:>5}  {flag:<15} {score.reason}")
        lines += [
            f"  {'':<30}   {line}"
            for name, detail in score.details.items()
            if detail not in ([], {}, None)
            for line in detail_lines(name, detail)
        ]
    return "\n".join(lines)
