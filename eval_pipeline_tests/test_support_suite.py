"""The support agent's suite as shipped, with scripted models: checks in code and a judge, both must pass."""

from __future__ import annotations

import json
from dataclasses import replace
from xml.etree import ElementTree as ET

import pytest
from langchain_core.messages import AIMessage
from typer.testing import CliRunner

from eval_pipeline.cli import app
from eval_pipeline.errors import RecordingMisses
from eval_pipeline.gating.decide import decide
from eval_pipeline.gating.decision import GateDecision
from eval_pipeline.gating.outcome_files import read_outcomes
from eval_pipeline.gating.policy import read_policy
from eval_pipeline.report.json_form import report_data
from eval_pipeline.suite_reading import read_suite
from eval_pipeline.suites import Suite
from eval_pipeline_tests.replayed import committed_suite, replayed
from eval_pipeline_tests.support_suite import METRICS, SHIPPED, SupportSuite, grades, guesses

CHECKS = ("answer_present", "tool_choice", "tool_argument", "source")


def shipped() -> Suite:
    return read_suite(SHIPPED)


def row_of(report, case_id):
    return next(row for row in report.rows if row.trace.case_id == case_id)


def outcomes(row) -> dict[str, str]:
    return {name: check.outcome for name, check in row.checks.items()}


def test_it_has_twelve_cases_three_policies_and_a_prompt_without_the_look_up():
    dataset = next(found for found in shipped().datasets.values() if found.name == "golden")
    assert len(dataset.cases) == 12
    assert [page.id for page in dataset.documents] == ["refund_policy", "return_policy", "shipping_policy"]
    v1, without = ((SHIPPED / "prompts" / f"{name}.md").read_text() for name in ("v1", "no-lookup"))
    dropped = [line for line in v1.splitlines() if line not in without.splitlines()]
    assert dropped == ["If the question names an order, look it up before you answer."]
    assert [line for line in v1.splitlines() if line not in dropped] == without.splitlines()


def test_every_score_passes_from_4_of_5_on():
    stages = {stage.name: stage for stage in shipped().stages}
    assert tuple(stages) == (*CHECKS, *METRICS)
    # (4 - 1) / 4
    assert {stages[name].threshold for name in METRICS} == {0.75}
    assert {stages[name].gating for name in METRICS} == {"when_calibrated"}


def test_a_right_answer_without_looking_fails_tool_choice(tmp_path):
    report, _ = SupportSuite(tmp_path).report(guesses)
    row = row_of(report, "return-102")
    # The golden answer is yes, and the judge gives a 5 for everything: the steps are wrong all the same.
    assert row.trace.answer == "Yes, you can still return it."
    assert {row.checks[name].score.details["rating"] for name in METRICS} == {5}
    assert (row.outcome, row.first_failure) == ("failed", "tool_choice")
    assert row.checks["tool_choice"].reason == "getDeliveryDate expected, no tool called"


def test_the_same_answer_after_looking_passes(tmp_path):
    report, _ = SupportSuite(tmp_path).report()
    row = row_of(report, "return-102")
    assert (row.outcome, set(outcomes(row).values())) == ("passed", {"passed"})
    assert row_of(report, "small-letters").outcome == "passed"  # asked for " ord-103 ", recorded as ORD-103


def test_the_judge_is_asked_once_a_case_and_its_call_counts_once(tmp_path):
    suite = SupportSuite(tmp_path)
    report, connector = suite.report()
    assert len(connector.judged) == 12
    calls = {name: sum(row.checks[name].calls for row in report.rows) for name in METRICS}
    assert calls == {"relevance": 12, **dict.fromkeys(METRICS[1:], 0)}
    recorded = [
        json.loads(line)
        for path in suite.folder.rglob("openai-judge/calls.jsonl")
        for line in path.read_text().splitlines()
    ]
    assert len(recorded) == 12
    replayed, connector = suite.report(mode="none")
    assert connector.judged == []
    assert report_data(replayed) == report_data(report)


@pytest.mark.parametrize("metric", METRICS)
def test_a_score_of_3_fails_a_case_once_the_judge_is_calibrated(tmp_path, metric):
    report, _ = SupportSuite(tmp_path).report(judge=grades(**{metric: 3}), calibrated=True)
    row = row_of(report, "return-102")
    assert (row.outcome, row.first_failure) == ("failed", metric)


def test_while_the_judge_is_uncalibrated_its_scores_advise_and_the_verdict_rests_on_the_checks(tmp_path):
    report, _ = SupportSuite(tmp_path).report(judge=grades(correctness=1))
    row = row_of(report, "return-102")
    assert (row.outcome, row.first_failure, row.first_advisory_failure) == ("passed", None, "correctness")
    assert {row.checks[name].gating for name in METRICS} == {False}


def test_a_case_that_the_judge_could_not_score_never_passes_and_is_left_out_of_averages(tmp_path):
    def judge(question):
        good = grades()(question)
        return good.replace('"relevance": 5', '"relevance": 6') if "ORD-102" in question.prompt else good

    report, _ = SupportSuite(tmp_path).report(judge=judge, calibrated=True)
    row = row_of(report, "return-102")
    assert (row.outcome, row.first_failure, row.first_failure_source) == ("error", "relevance", "judge")
    assert {row.checks[name].outcome for name in METRICS} == {"error"}
    for name in METRICS:
        stage = report.summary.stages[name]
        rating = stage.metrics["rating"]
        # 11 of 12 cases, each with a 5.
        assert (stage.applies, stage.scored, stage.mean, rating.mean, rating.count) == (12, 11, 1.0, 5.0, 11)


@pytest.mark.parametrize(("calibrated", "outcome"), [(False, "passed"), (True, "not_measured")])
def test_a_case_that_a_calibrated_judge_was_never_asked_about_does_not_pass(tmp_path, calibrated, outcome):
    suite = SupportSuite(tmp_path)
    suite.report()
    for path in suite.folder.rglob("openai-judge/calls.jsonl"):
        path.unlink()
    report, _ = suite.report(mode="none", calibrated=calibrated)
    row = row_of(report, "return-102")
    assert {row.checks[name].outcome for name in METRICS} == {"not_measured"}
    # The checks alone decide while the judge only advises.
    assert row.outcome == outcome


def test_a_judge_that_is_asked_otherwise_now_is_a_miss_that_names_the_rubric(tmp_path):
    suite = SupportSuite(tmp_path)
    suite.report()
    rubric = suite.folder / "rubric.md"
    rubric.write_text(rubric.read_text() + "\nBe strict.\n")
    with pytest.raises(RecordingMisses, match="judge template of rubric \\(scores\\) changed") as caught:
        suite.report(mode="none")
    assert {miss.why.partition(" changed")[0] for miss in caught.value.misses} == {
        "judge template of rubric (scores)"
    }


def test_a_broken_off_run_is_an_error_of_every_check_and_never_judged(tmp_path):
    def silent(messages):
        return AIMessage("")

    report, connector = SupportSuite(tmp_path).report(silent, calibrated=True)
    assert {row.outcome for row in report.rows} == {"error"}
    assert {row.first_failure for row in report.rows} == {"answer_present"}
    assert connector.judged == []


def test_strict_exits_1_when_a_recorded_case_fails_and_junit_has_a_test_a_case(tmp_path, monkeypatch):
    monkeypatch.setenv("EVAL_DATA", str(SHIPPED.parent))
    monkeypatch.setenv("EVAL_WAREHOUSE", str(tmp_path))
    monkeypatch.delenv("DAGSTER_HOME", raising=False)
    asked = ["support_agent", "--candidate", "qwen-1.5b-no-lookup"]
    assert CliRunner().invoke(app, ["run", *asked, "--strict"]).exit_code == 1
    (tests,) = ET.fromstring(CliRunner().invoke(app, ["report", *asked, "--format", "junit"]).stdout)
    assert len(tests) == 12
    found = {test.get("name"): test for test in tests}
    # Answered "Yes", which is right, after asking only whether the order is delivered, not when.
    assert found["return-102"][0].get("message") == (
        "tool_choice: getDeliveryDate expected, getOrderStatus called"
    )
    assert len(found["day-30"]) == 0


def decided(dataset: str, candidate: str, **rules: object) -> GateDecision:
    """The decision of a recorded candidate against the committed baseline, by the policy with other rules."""
    suite = committed_suite("support_agent")
    (cell,) = suite.select_cells(candidate, dataset)
    policy = replace(read_policy(suite.folder / "policy.yaml"), **rules)
    baseline = read_outcomes(suite.folder / "baselines" / f"{dataset}.json")
    _, outcomes = replayed(suite.name, cell)
    return decide(baseline, outcomes, policy)


def test_two_of_three_repeats_are_a_pass_and_one_of_three_a_regression_by_majority():
    decision = decided("repeated", "qwen-1.5b-warm-no-lookup")
    assert decision.verdict == "block"
    # Looked up in two of three repeats with the sentence in its prompt, in one of three without.
    assert [test.nodeid for test in decision.regressed] == [
        "support_agent::day-30::tool_choice",
        "support_agent::day-30::tool_argument",
    ]


def test_where_all_repeats_must_pass_a_flaky_case_had_nothing_to_lose():
    decision = decided("repeated", "qwen-1.5b-warm-no-lookup", case_passes="all")
    assert decision.regressed == ()


@pytest.mark.parametrize(("required", "verdict"), [(3, "pass"), (4, "inconclusive")])
def test_a_test_with_fewer_repeats_than_required_is_inconclusive(required, verdict):
    decision = decided("repeated", "qwen-1.5b-warm", repeats_required=required)
    assert decision.verdict == verdict
    assert [reason.rule for reason in decision.reasons] == ["repeats_required"][: verdict != "pass"]


def test_at_temperature_0_no_check_tells_the_two_prompts_apart():
    assert decided("golden", "qwen-1.5b-no-lookup").verdict == "pass"
