"""A decision as JUnit XML, which CI services show test by test."""

from __future__ import annotations

from xml.etree import ElementTree as ET

from eval_pipeline.gating.decision import ComparedTest, GateDecision
from eval_pipeline.gating.rules import describe_change
from eval_pipeline.junit_xml import add_outcome, add_suite, junit_root, junit_test, junit_text


def render_junit(decision: GateDecision) -> str:
    """Two test suites: the gate's one test, failing unless it passes, and every gating test.

    A test fails where it fails or is missing, whether or not the gate minds; without a verdict it is
    an error, and a skipped one is skipped.
    """
    name = decision.candidate.suite or decision.candidate.dataset_name
    gate = junit_test("decision", "gate")
    if decision.verdict != "pass":
        reasons = "\n".join(f"{reason.verdict}: {reason.text}" for reason in decision.reasons)
        add_outcome(gate, "failure", decision.verdict, reasons)
    missing = {test.nodeid for test in decision.missing}
    root = junit_root(f"eval gate of {name}")
    add_suite(root, "gate", [gate])
    add_suite(root, name, [_case(test, missing) for test in decision.tests])
    return junit_text(root)


def _case(test: ComparedTest, missing: set[str]) -> ET.Element:
    case = junit_test(test.check, test.case)
    state = test.candidate
    if state is not None and state.standing == "pass":
        return case
    words = f"{test.nodeid} {describe_change(test)}"
    if test.nodeid in missing:
        add_outcome(case, "failure", "missing", words)
    elif state is None:
        add_outcome(case, "skipped", "advisory", f"{test.nodeid} only advises in the candidate")
    elif state.skipped:
        add_outcome(case, "skipped", "skipped", words)
    elif state.standing == "fail":
        add_outcome(case, "failure", "failed", words)
    elif state.standing == "unmeasured":
        add_outcome(case, "error", "unmeasured", words)
    return case
