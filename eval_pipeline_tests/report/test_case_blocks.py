"""A report case by case: blocks of text and Markdown, and a JUnit test for each."""

from __future__ import annotations

from xml.etree import ElementTree as ET

import pytest

from eval_pipeline.report.case_blocks import blocks_markdown, blocks_text
from eval_pipeline.report.json_form import report_data
from eval_pipeline.report.junit import report_junit
from eval_pipeline.report.stage_report import build_report
from eval_pipeline_tests.report_suite import RELEVANCY, TOOLS, check, make_suite, sample_report, trace_of
from eval_pipeline_tests.support_suite import SupportSuite, grades, guesses


def block_of(text: str, case_id: str) -> list[str]:
    lines = text.splitlines()
    start = next(place for place, line in enumerate(lines) if line.startswith(f"{case_id}:"))
    return lines[start : lines.index("", start)]


def test_each_case_has_a_block_and_the_summary_names_those_that_did_not_pass():
    text = blocks_text(sample_report())
    assert block_of(text, "pipe|colors") == [
        "pipe|colors: failed at retrieval",
        "  question  pipe|colors?",
        "  answer    About pipe|colors.",
        "  checks    tools pass; retrieval fail (as found); grounding fail (one sentence lacks support)",
    ]
    assert block_of(text, "restore")[0] == "restore: error at tools (error: system)"
    assert block_of(text, "thanks") == [
        "thanks: not measured",
        "  question  thanks?",
        "  answer    About thanks.",
    ]
    summary = [" ".join(line.split()) for line in text.splitlines()[-13:]]
    assert "failed 1: pipe|colors" in summary
    assert "error 1: restore" in summary
    assert "not measured 1: thanks" in summary


@pytest.fixture(scope="module")
def guessed(tmp_path_factory):
    """Every answer a guess, and a judge that gives a 3 for correctness."""
    folder = tmp_path_factory.mktemp("guessed")
    return [
        SupportSuite(folder / name).report(guesses, grades(correctness=3), calibrated=name == "calibrated")[0]
        for name in ("calibrated", "not")
    ]


def test_scores_stand_in_their_own_scale_with_what_was_needed_and_one_reason(guessed):
    scores = "relevance 5; correctness 3 (needs 4); faithfulness 5; helpfulness 5; hallucination_free 5"
    block = block_of(blocks_text(guessed[0]), "refund-time")
    assert block == [
        "refund-time: failed at correctness",
        "  question  I sent my shoes back. How long does it take until a refund is paid?",
        "  answer    Yes, you can still return it.",
        "  checks    answer_present pass; tool_choice pass; source pass",
        f"  scores    {scores}",
        "  reason    As graded.",
    ]


def test_an_uncalibrated_judges_scores_are_marked_and_so_is_the_verdict(guessed):
    block = block_of(blocks_text(guessed[1]), "refund-time")
    assert block[0] == "refund-time: passed, on the checks alone: the judge only advises"
    assert block[4].startswith("  advisory  relevance 5; correctness 3 (needs 4);")


def test_the_summary_has_each_metrics_average_in_its_own_scale_with_its_count(guessed):
    lines = [" ".join(line.split()) for line in blocks_text(guessed[0]).splitlines()]
    place = next(i for i, line in enumerate(lines) if line.startswith("correctness 0/12"))
    assert "mean" not in lines[place]
    assert lines[place + 1] == "mean of 1 to 5 3.000 over 12 cases"


def test_the_json_form_has_the_question_of_each_case_and_the_ids_of_those_that_did_not_pass():
    data = report_data(sample_report())
    assert [row["question"] for row in data["rows"]][:2] == ["backup?", "pipe|colors?"]
    assert data["summary"]["not_passed"] == ["pipe|colors", "restore", "thanks"]


def test_of_a_judge_that_could_not_score_the_block_says_why():
    suite = make_suite({"a": ["tools"]}, (TOOLS, RELEVANCY))
    failed = check("a", RELEVANCY, None, "no usable JSON", error_source="judge", gating=True)
    report = build_report(suite, suite.cells[0], [trace_of("a")], [check("a", TOOLS, 1.0), failed])
    block = block_of(blocks_text(report), "a")
    assert block[0] == "a: error at relevancy (error: judge)"
    assert block[-2:] == ["  scores    relevancy error", "  reason    no usable JSON"]


def test_in_markdown_what_others_wrote_is_code_and_no_markup():
    text = blocks_markdown(sample_report())
    assert "#### <code>pipe&#124;colors</code>: failed at retrieval\n" in text
    assert "- question: `backup?`\n" in text
    assert "\n- tools: 3/4 " in text


def test_of_many_cases_the_page_shows_some_that_did_not_pass_and_says_so():
    text = blocks_markdown(sample_report(), most=2)
    assert text.count("####") == 2
    assert "`backup`" not in text
    assert "3 more cases: `eval-pipeline report assistant --by-case`" in text


def test_a_long_answer_is_cut_on_the_page():
    text = blocks_markdown(sample_report(), longest=6)
    assert "- answer: `About … (7 more characters)`\n" in text
    assert "- answer: `About backup.`\n" in blocks_markdown(sample_report())


def test_junit_has_a_test_a_case_failing_at_the_stage_where_the_case_does():
    root = ET.fromstring(report_junit(sample_report()))
    (suite,) = root
    counts = {name: suite.get(name) for name in ("tests", "failures", "errors", "skipped")}
    # pipe|colors failed, and restore broke off by its system's doing; thanks expects nothing.
    assert counts == {"tests": "5", "failures": "2", "errors": "0", "skipped": "1"}
    found = {test.get("name"): test[0] if len(test) else None for test in suite}
    assert found["backup"] is None
    assert (found["pipe|colors"].tag, found["pipe|colors"].get("type")) == ("failure", "retrieval")
    assert found["pipe|colors"].get("message") == "retrieval: as found"
    assert found["restore"].get("message") == "tools: tool_loop: more than 5 tool rounds"
    assert found["thanks"].tag == "skipped"


def test_a_judge_that_could_not_score_is_an_error_in_junit_and_no_failure():
    suite = make_suite({"a": ["tools"]}, (TOOLS, RELEVANCY))
    failed = check("a", RELEVANCY, None, "no usable JSON", error_source="judge", gating=True)
    report = build_report(suite, suite.cells[0], [trace_of("a")], [check("a", TOOLS, 1.0), failed])
    (tests,) = ET.fromstring(report_junit(report))
    assert tests.get("errors") == "1"
    assert tests[0][0].get("message") == "relevancy: no usable JSON"


def test_repeats_are_tests_of_their_own():
    suite = make_suite({"a": ["tools"]}, (TOOLS,), repeats=2)
    traces = [trace_of("a", repeat=0), trace_of("a", repeat=1)]
    checks = [check("a", TOOLS, 1.0, repeat=0), check("a", TOOLS, 0.0, "none made", repeat=1)]
    report = build_report(suite, suite.cells[0], traces, checks)
    (tests,) = ET.fromstring(report_junit(report))
    assert [test.get("name") for test in tests] == ["a[0]", "a[1]"]
    assert "a (repeat 1): failed at tools" in blocks_text(report)
