import pytest

from eval_pipeline.cases import Case
from eval_pipeline.report.case_reports import CaseReport, report_case
from eval_pipeline.scores import CheckResult
from eval_pipeline.traces import AgentTrace, TraceError
from eval_pipeline_tests.report_suite import GROUNDING, RELEVANCY, RETRIEVAL, TOOLS, check

STAGES = (TOOLS, RETRIEVAL, GROUNDING)
CASE = Case("a", "a?", expected={"tools": [], "pages": []})
SYSTEM = TraceError("system", "tool_loop", "more than 5 tool rounds")
PROVIDER = TraceError("provider", "timeout", "3 attempts")


def report(*checks: CheckResult, case: Case = CASE, error: TraceError | None = None) -> CaseReport:
    return report_case(case, AgentTrace("a", error=error), checks, STAGES)


PASSED = [check("a", stage, 1.0) for stage in STAGES]


def test_a_case_passes_when_every_gating_stage_passes() -> None:
    row = report(*PASSED)
    assert (row.outcome, row.first_failure, row.first_advisory_failure) == ("passed", None, None)


def test_the_first_declared_stage_that_fails_is_named_whatever_the_order_of_the_outcomes() -> None:
    row = report(check("a", GROUNDING, 0.0), check("a", RETRIEVAL, 0.5), check("a", TOOLS, 0.0))
    assert (row.outcome, row.first_failure, row.first_failure_outcome) == ("failed", "tools", "failed")
    assert list(row.checks) == ["tools", "retrieval", "grounding"]


def test_an_advisory_failure_is_shown_apart() -> None:
    row = report(*PASSED[:2], check("a", GROUNDING, 0.5))
    assert (row.outcome, row.first_failure, row.first_advisory_failure) == ("passed", None, "grounding")


def test_an_advisory_error_is_no_failure() -> None:
    row = report(*PASSED[:2], check("a", GROUNDING, None, error_source="scorer"))
    assert (row.outcome, row.first_advisory_failure) == ("passed", None)


@pytest.mark.parametrize(
    ("first", "outcome", "source"),
    [
        (check("a", TOOLS, None, error_source="judge"), "error", "judge"),
        (check("a", TOOLS, None, outcome="not_measured"), "not_measured", None),
        (check("a", TOOLS, 0.5), "failed", None),
    ],
)
def test_the_first_failing_stage_decides_the_outcome(first: CheckResult, outcome: str, source: str) -> None:
    row = report(first, check("a", RETRIEVAL, 0.0))
    assert (row.outcome, row.first_failure, row.first_failure_outcome) == (outcome, "tools", outcome)
    assert row.first_failure_source == source


@pytest.mark.parametrize("error", [SYSTEM, PROVIDER])
def test_a_broken_run_without_a_gating_stage_fails_at_its_source(error: TraceError) -> None:
    row = report(case=Case("a", "a?"), error=error)
    assert (row.outcome, row.first_failure, row.first_failure_source) == ("error", error.source, error.source)


def test_a_broken_run_never_passes() -> None:
    assert report(*PASSED, error=SYSTEM).outcome == "error"


def test_nothing_that_gates_is_not_measured() -> None:
    row = report(case=Case("a", "a?"))
    assert (row.outcome, row.first_failure, row.first_failure_outcome) == ("not_measured", None, None)


def test_only_advisory_stages_measure_nothing_that_counts() -> None:
    row = report_case(CASE, AgentTrace("a"), [check("a", GROUNDING, 1.0)], (GROUNDING,))
    assert row.outcome == "not_measured"


def test_a_stage_that_applies_and_was_not_scored_is_not_measured() -> None:
    row = report(PASSED[0])
    assert (row.outcome, row.first_failure) == ("not_measured", "retrieval")
    assert row.checks["grounding"].outcome == "not_measured"
    assert not row.checks["grounding"].gating


def test_a_calibrated_stage_gates_where_its_outcome_says_so() -> None:
    gating = check("a", RELEVANCY, 0.2, gating=True)
    row = report_case(CASE, AgentTrace("a"), [gating], (RELEVANCY,))
    assert (row.outcome, row.first_failure) == ("failed", "relevancy")


def test_of_a_judges_repeats_the_first_counts() -> None:
    checks = [check("a", RELEVANCY, 0.9, judge_repeat=1), check("a", RELEVANCY, 0.1, judge_repeat=0)]
    row = report_case(CASE, AgentTrace("a"), checks, (RELEVANCY,))
    assert row.checks["relevancy"].outcome == "failed"
