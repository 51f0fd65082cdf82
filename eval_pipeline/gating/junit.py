"""A decision as JUnit XML, which CI services show test by test."""

from __future__ import annotations

import re
from collections.abc import Iterable
from xml.etree import ElementTree as ET

from eval_pipeline.gating.decision import ComparedTest, GateDecision
from eval_pipeline.gating.rules import describe_change

# What XML 1.0 cannot hold, not even escaped.
_ILLEGAL = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def render_junit(decision: GateDecision) -> str:
    """Two test suites: the gate's one test, failing unless it passes, and every gating test.

    A test fails where it fails or is missing, whether or not the gate minds; without a verdict it is
    an error, and a skipped one is skipped.
    """
    name = decision.candidate.suite or decision.candidate.dataset_name
    gate = ET.Element("testcase", name="decision", classname="gate")
    if decision.verdict != "pass":
        reasons = "\n".join(f"{reason.verdict}: {reason.text}" for reason in decision.reasons)
        _outcome(gate, "failure", decision.verdict, reasons)
    missing = {test.nodeid for test in decision.missing}
    root = ET.Element("testsuites", name=_legal(f"eval gate of {name}"))
    _suite(root, "gate", [gate])
    _suite(root, name, [_case(test, missing) for test in decision.tests])
    ET.indent(root)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{ET.tostring(root, encoding="unicode")}\n'


def _case(test: ComparedTest, missing: set[str]) -> ET.Element:
    case = ET.Element("testcase", name=_legal(test.check), classname=_legal(test.case))
    words = f"{test.nodeid} {describe_change(test)}"
    state = test.candidate
    if test.nodeid in missing:
        _outcome(case, "failure", "missing", words)
    elif state is None:
        _outcome(case, "skipped", "advisory", f"{test.nodeid} only advises in the candidate")
    elif state.skipped:
        _outcome(case, "skipped", "skipped", words)
    elif state.standing == "fail":
        _outcome(case, "failure", "failed", words)
    elif state.standing == "unmeasured":
        _outcome(case, "error", "unmeasured", words)
    return case


def _outcome(case: ET.Element, tag: str, kind: str, text: str) -> None:
    message, _, _ = text.partition("\n")
    element = ET.SubElement(case, tag, type=kind, message=_legal(message))
    element.text = _legal(text)


def _suite(root: ET.Element, name: str, cases: Iterable[ET.Element]) -> None:
    suite = ET.SubElement(root, "testsuite", name=_legal(name))
    suite.extend(cases)
    for attribute, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        suite.set(attribute, str(sum(1 for case in suite if case.find(tag) is not None)))
    suite.set("tests", str(len(suite)))


def _legal(text: str) -> str:
    """`text` with what XML cannot hold as escapes."""
    return _ILLEGAL.sub(lambda found: found.group().encode("unicode_escape").decode(), text)
