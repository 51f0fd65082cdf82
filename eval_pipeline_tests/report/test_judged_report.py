"""What a report says of judged stages: columns, means with counts, and what the judge has shown."""

from __future__ import annotations

import json

import pytest

from eval_pipeline.gating.outcomes import JudgeRecord
from eval_pipeline.gating.published import read_published
from eval_pipeline.model_settings import ModelSettings
from eval_pipeline.report.json_form import report_data, report_json
from eval_pipeline.report.stage_report import StageReport, build_report
from eval_pipeline.report.table import summary_lines, table_headings, table_rows
from eval_pipeline.scorers.deepeval import (
    AnswerRelevancy,
    ContextualPrecision,
    ContextualRecall,
    Faithfulness,
)
from eval_pipeline.scores import CheckResult, Stage
from eval_pipeline_tests.report_suite import RETRIEVAL, TOOLS, check, make_suite, pages, trace_of

PRECISION = Stage("contextual_precision", ContextualPrecision(), 0.7, "never")
FAITHFUL = Stage("faithfulness", Faithfulness(), 0.7, "when_calibrated")
RECALL = Stage("contextual_recall", ContextualRecall(), 0.7, "when_calibrated")
RELEVANT = Stage("answer_relevancy", AnswerRelevancy(), 0.7, "when_calibrated")
STAGES = (TOOLS, RETRIEVAL, PRECISION, FAITHFUL, RECALL, RELEVANT)
POOR = JudgeRecord(calibrated=False, defects=8, caught=2, sound=8, false_alarms=1)
GOOD = JudgeRecord(calibrated=True, defects=8, caught=7, sound=8, false_alarms=0)


def judged_report(records=None, **changed: CheckResult) -> StageReport:
    """Two cases that pass `tools` and `retrieval`; faithfulness is 1.0 of `backup` and 0.5 of `sync`."""
    suite = make_suite({name: ["tools", "pages"] for name in ("backup", "sync")}, STAGES)
    for name, case in zip(("backup", "sync"), suite.datasets["docs@98b0e5bca6c8"].cases, strict=True):
        case.expected["tools"].append("search_docs")  # type: ignore[attr-defined]
        assert case.id == name
    object.__setattr__(suite, "judge", ModelSettings(name="ollama:judge", settings={"temperature": 0.4}))
    checks = []
    for name, faithful in (("backup", 1.0), ("sync", 0.5)):
        checks += [
            check(name, TOOLS, 1.0, "all made", details={"unexpected": [], "missing": []}),
            pages(name, 1.0, 1),
            check(name, PRECISION, 1.0, "first"),
            check(name, FAITHFUL, faithful, "as the judge says", gating=GOOD in (records or {}).values()),
            check(name, RECALL, 1.0, "all there"),
            changed.get(name) or check(name, RELEVANT, 1.0, "to the point"),
        ]
    traces = [trace_of("backup", "search_docs"), trace_of("sync", "search_docs")]
    return build_report(suite, suite.cells[0], traces, checks, records)


def line(report: StageReport, stage: str) -> str:
    return dict(summary_lines(report))[stage]


def test_judged_stages_have_short_columns_in_brackets_while_they_advise():
    assert table_headings(judged_report())[-5:] == [
        "(ctx precision)",
        "(faithful)",
        "(ctx recall)",
        "(relevancy)",
        "first failure",
    ]
    assert [cell.text for cell in table_rows(judged_report())[1]][-5:] == [
        "pass",
        "fail 0.50",
        "pass",
        "pass",
        "–",
    ]


def test_a_calibrated_judges_stage_stands_without_brackets_and_can_be_the_first_failure():
    report = judged_report({"faithfulness": GOOD})
    assert "faithful" in table_headings(report)
    assert report.rows[1].first_failure == "faithfulness"
    assert line(report, "faithfulness").endswith(
        "gates: judge caught 7 of 8 defects, 0 false alarms in 8 sound answers"
    )


@pytest.mark.parametrize(
    ("records", "told"),
    [
        (
            {"faithfulness": POOR},
            "advisory: judge caught 2 of 8 defects, 1 false alarm in 8 sound answers",
        ),
        ({}, "advisory: judge not calibrated"),
    ],
)
def test_an_advisory_stage_says_what_its_judge_has_shown(records, told):
    report = judged_report(records)
    # 1 of 2 passes 0.7; the mean of 1.0 and 0.5 is 0.75.
    assert line(report, "faithfulness") == f"1/2 (0.09–0.91), mean 0.750 over 2 cases, {told}"
    assert report.rows[1].first_failure is None
    assert report.rows[1].first_advisory_failure == "faithfulness"


def test_the_mean_counts_only_what_was_scored():
    bad = check("sync", RELEVANT, None, "unusable reply", error_source="judge")
    assert line(judged_report(sync=bad), "answer_relevancy") == (
        "1/1 (0.21–1.00), mean 1.000 over 1 case, 1 error, advisory: judge not calibrated, 1/2 scored"
    )


def test_a_judge_that_is_not_recorded_is_told_with_the_command():
    reason = "judge not recorded; record with: eval-pipeline run assistant"
    missing = {
        name: check(name, RELEVANT, None, reason, outcome="not_measured") for name in ("backup", "sync")
    }
    report = judged_report(**missing)
    told = line(report, "answer_relevancy")
    assert told.startswith("nothing measured, 2 not measured (judge not recorded), advisory")
    assert ("not measured", "record with: eval-pipeline run assistant") in summary_lines(report)
    assert ("advisory", "calibrate with: eval-pipeline calibrate assistant") in summary_lines(report)


def test_a_stage_without_calibration_cases_wants_them_and_no_further_calibration():
    lines = summary_lines(judged_report({"faithfulness": POOR, "contextual_recall": GOOD}))
    assert dict(lines)["answer_relevancy"].endswith("advisory: no calibration cases")
    told = [text for label, text in lines if label == "advisory"]
    assert told == ["write cases into calibration.yaml for: answer_relevancy"]


def test_a_judge_that_could_score_no_calibration_case_has_shown_nothing():
    silent = JudgeRecord(calibrated=False, defects=0, caught=0, sound=0, false_alarms=0)
    told = line(judged_report({"faithfulness": silent}), "faithfulness")
    assert told.endswith("advisory: judge could score no calibration case")


def test_the_json_names_the_judge_the_threshold_and_how_strict_it_is():
    data = report_data(judged_report({"faithfulness": POOR}))
    assert data["threshold"] == 0.7
    key = data["key"]
    assert (key["judge"], key["judge_settings"]) == ("ollama:judge", {"temperature": 0.4})
    assert len(key["judge_id"]) == 12
    assert key["strict_faithfulness"] is True
    assert data["rows"][1]["judged"]["faithfulness"] == {
        "score": 0.5,
        "pass": False,
        "reason": "as the judge says",
    }
    assert data["summary"]["stages"]["faithfulness"]["judge_record"]["caught"] == 2
    assert data["summary"]["stages"]["answer_relevancy"]["judge_record"] is None
    assert "judge_record" not in data["summary"]["stages"]["tools"]


def test_a_report_of_our_own_with_judged_stages_can_be_imported_by_the_gate():
    report = judged_report({"faithfulness": GOOD})
    outcomes = read_published(json.loads(report_json(report)), "report.json")
    assert outcomes.eval.judge_model == "ollama:judge"
    found = {(test.case, test.check): test.outcome for test in outcomes.tests}
    assert found["sync", "test_faithfulness"] == "failed"
    assert found["backup", "test_faithfulness"] == "passed"
    assert len(found) == 10
