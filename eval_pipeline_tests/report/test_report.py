import json
from dataclasses import replace
from pathlib import Path

import pytest

from eval_pipeline.errors import EvalError, SuiteError
from eval_pipeline.report.json_form import report_data, report_json
from eval_pipeline.report.key import report_key
from eval_pipeline.report.rows import report_table
from eval_pipeline.report.stage_report import StageReport, build_report
from eval_pipeline.report.summary import MetricSummary
from eval_pipeline.scores import CheckResult, Stage
from eval_pipeline.statistics import Rate
from eval_pipeline.traces import AgentTrace, TraceError, Usage
from eval_pipeline.warehouse.arrow_schemas import STAGE_REPORT
from eval_pipeline_tests.report_suite import (
    GROUNDING,
    RELEVANCY,
    RETRIEVAL,
    TOOLS,
    Check,
    check,
    make_suite,
    pages,
    sample_report,
    trace_of,
)

GOLDEN = Path(__file__).parent / "golden"


def report_of(
    cases: dict[str, list[str]], traces: list[AgentTrace], checks: list[CheckResult], *stages: Stage
) -> StageReport:
    suite = make_suite(cases, stages or (TOOLS, RETRIEVAL, GROUNDING))
    return build_report(suite, suite.cells[0], traces, checks)


def test_rows_follow_the_dataset_whatever_the_order_of_the_traces() -> None:
    traces = [trace_of("b"), trace_of("b", repeat=1), trace_of("a", repeat=1), trace_of("a")]
    suite = make_suite({"a": [], "b": []}, repeats=2)
    report = build_report(suite, suite.cells[0], traces, [])
    assert [(row.trace.case_id, row.trace.repeat) for row in report.rows] == [
        ("a", 0),
        ("a", 1),
        ("b", 0),
        ("b", 1),
    ]
    assert (report.summary.cases, report.summary.runs) == (2, 4)


@pytest.mark.parametrize(
    ("traces", "checks", "problem"),
    [
        (["a"], [], "runs without a trace: b"),
        (["a", "b", "c"], [], "traces of no run: c"),
        (["a", "b"], [check("d", TOOLS, 1.0)], "outcomes of no trace: d"),
        (["a", "b"], [replace(check("a", TOOLS, 1.0), stage="old")], "outcomes of no stage: old"),
    ],
)
def test_a_report_that_would_leave_something_out_is_refused(
    traces: list[str], checks: list[CheckResult], problem: str
) -> None:
    with pytest.raises(
        EvalError, match=f"{problem}.*run: eval-pipeline run assistant --candidate gemma --dataset docs"
    ):
        report_of({"a": [], "b": []}, [trace_of(i) for i in traces], checks)


def test_a_systems_error_is_measured_and_not_passed_but_a_judges_is_unmeasured() -> None:
    cases = {name: ["tools"] for name in "abcd"}
    broken = trace_of("b", error=TraceError("system", "raised", "ValueError"))
    traces = [trace_of("a"), broken, trace_of("c"), trace_of("d")]
    checks = [
        check("a", TOOLS, 1.0),
        check("b", TOOLS, None, error_source="system"),
        check("c", TOOLS, None, error_source="judge"),
        check("d", TOOLS, None, outcome="not_measured"),
    ]
    summary = report_of(cases, traces, checks, TOOLS).summary
    assert summary.outcomes == {"passed": 1, "failed": 0, "error": 2, "not_measured": 1}
    assert summary.rate == Rate(1, 2)
    stage = summary.stages["tools"]
    assert (stage.applies, stage.scored, stage.errors, stage.not_measured) == (4, 1, 2, 1)
    assert (stage.rate, stage.mean) == (Rate(1, 2), 1.0)


def test_metrics_are_means_over_the_runs_where_they_were_scored() -> None:
    # hit 2 of 3; recall (1 + 0.5 + 0) / 3; reciprocal rank (1 + 1/3 + 0) / 3
    checks = [pages("a", 1.0, 1), pages("b", 0.5, 3), pages("c", 0.0, None)]
    cases = {name: ["pages"] for name in "abc"}
    report = report_of(cases, [trace_of(name) for name in "abc"], checks, RETRIEVAL)
    assert report.summary.stages["retrieval"].metrics == {
        "hit": MetricSummary(pytest.approx(2 / 3), 3, Rate(2, 3)),
        "recall": MetricSummary(0.5, 3),
        "reciprocal_rank": MetricSummary(pytest.approx(4 / 9), 3),
    }


def test_a_stage_that_never_applies_has_no_mean_and_no_metrics() -> None:
    stage = report_of({"a": []}, [trace_of("a")], [], RETRIEVAL).summary.stages["retrieval"]
    assert (stage.applies, stage.mean, stage.metrics, stage.rate.value) == (0, None, {}, None)


def test_a_metric_that_a_scorer_does_not_label_is_summed_up_too() -> None:
    scored = check("a", TOOLS, 1.0, metrics={"order": 0.25})
    report = report_of({"a": ["tools"]}, [trace_of("a")], [scored], TOOLS)
    assert report.summary.stages["tools"].metrics == {"order": MetricSummary(0.25, 1)}


def test_the_numbers_to_plot_leave_out_what_was_not_measured() -> None:
    used = replace(trace_of("a"), usage=Usage(calls=3, called=1, input_tokens=50, output_tokens=7))
    report = report_of({"a": ["tools"]}, [used], [check("a", TOOLS, 1.0)], TOOLS, RETRIEVAL)
    assert report.numbers() == {
        "cases": 1,
        "passed": 1,
        "failed": 0,
        "error": 0,
        "not_measured": 0,
        "pass_rate": 1.0,
        "calls": 3,
        "called": 1,
        "replayed": 2,
        "input_tokens": 50,
        "output_tokens": 7,
        "judge_calls": 0,
        "judge_called": 0,
        "judge_tokens": 0,
        "tools_rate": 1.0,
    }


def test_the_key_has_short_hashes_and_every_stages_scorer() -> None:
    suite = make_suite({"a": []}, (TOOLS,), k=None)
    key = report_key(suite, suite.cells[0])
    dataset = suite.datasets["docs@98b0e5bca6c8"]
    assert (key["cases"], key["cases_sha"]) == ("docs@2", dataset.cases_sha[:12])
    assert key["k"] is None
    assert key["stages"] == [
        {
            "name": "tools",
            "scorer": "eval_pipeline_tests.report_suite:Check",
            "parameters": {"key": "tools"},
            "version": 1,
            "threshold": 1.0,
            "gating": "always",
        }
    ]


def test_the_json_is_as_committed() -> None:
    assert report_json(sample_report()) == (GOLDEN / "report.json").read_text(encoding="utf-8")


def test_the_json_holds_no_time_and_no_cache_count() -> None:
    report = sample_report()
    timed = replace(
        report,
        rows=tuple(
            replace(row, trace=replace(row.trace, latency_ms=9.9, usage=Usage(5, 5))) for row in report.rows
        ),
    )
    assert report_json(timed) == report_json(report)


def test_judged_stages_stand_together_with_score_and_reason() -> None:
    scored = check("a", RELEVANCY, 0.75, "on topic", details={"verdicts": 3, "score": "shadowed"})
    report = report_of({"a": ["tools"], "b": []}, [trace_of("a"), trace_of("b")], [scored], RELEVANCY)
    first, second = report_data(report)["rows"]
    assert first["judged"] == {
        "relevancy": {"score": 0.75, "pass": True, "reason": "on topic", "verdicts": 3}
    }
    assert second["judged"] == {"relevancy": None}
    assert "relevancy" not in first


def test_text_no_file_can_hold_is_written_out_in_the_json() -> None:
    trace = replace(trace_of("a"), answer="x\ud800\x00 é")
    text = report_json(report_of({"a": []}, [trace], []))
    assert json.loads(text.encode())["rows"][0]["answer"] == "x\\ud800\x00 é"


def test_a_stage_cannot_be_named_like_a_field_of_the_rows() -> None:
    stage = Stage("answer", Check("tools"))
    with pytest.raises(SuiteError, match="a stage cannot be named 'answer'"):
        report_json(report_of({"a": []}, [trace_of("a")], [], stage))


def test_the_stored_rows_are_those_of_the_json() -> None:
    report = sample_report()
    table = report_table(report)
    assert table.schema == STAGE_REPORT
    assert [json.loads(row) for row in table["row"].to_pylist()] == report_data(report)["rows"]
    assert table["first_failure"].to_pylist() == [None, "retrieval", "tools", None, None]
    assert table["outcome"].to_pylist() == ["passed", "failed", "error", "passed", "not_measured"]
    assert table["error_kind"].to_pylist() == [None, None, "tool_loop", None, None]
