import pytest

from eval_pipeline.cases import Case
from eval_pipeline.explanation import verdict_text
from eval_pipeline.report.case_reports import report_case
from eval_pipeline.traces import AgentTrace, TraceError
from eval_pipeline_tests.report_suite import GROUNDING, RETRIEVAL, TOOLS, check

EVERY = Case("a", "a?", expected={"tools": [], "pages": []})
UNGATED = Case("a", "a?", expected={})
PASSED = [check("a", TOOLS, 1.0), check("a", RETRIEVAL, 1.0)]


@pytest.mark.parametrize(
    ("case", "checks", "error", "verdict"),
    [
        (EVERY, PASSED, None, "passes every gating stage"),
        (EVERY, [PASSED[0], check("a", RETRIEVAL, 0.5)], None, "fails first at retrieval"),
        (
            EVERY,
            [PASSED[0], check("a", RETRIEVAL, None, error_source="judge")],
            None,
            "could not be measured, first at retrieval (error: judge)",
        ),
        (
            EVERY,
            [check("a", TOOLS, None, outcome="not_measured"), check("a", RETRIEVAL, 0.5)],
            None,
            "could not be measured, first at tools (not measured)",
        ),
        (
            EVERY,
            [check("a", TOOLS, None, error_source="system")],
            TraceError("system", "raised", "x"),
            "fails first at tools (error: system)",
        ),
        (UNGATED, [], None, "not measured: of the stages that apply none gates"),
        (UNGATED, [], TraceError("system", "raised", "x"), "fails first at system (error: system)"),
        (
            UNGATED,
            [],
            TraceError("provider", "timeout", "x"),
            "could not be measured, first at provider (error: provider)",
        ),
    ],
)
def test_the_verdict_tells_a_failure_from_what_could_not_be_measured(case, checks, error, verdict):
    row = report_case(case, AgentTrace("a", error=error), checks, (TOOLS, RETRIEVAL, GROUNDING))
    assert verdict_text(row) == verdict
