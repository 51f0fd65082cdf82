"""A stage report as JUnit XML: a test a case, failing at the stage where the case does."""

from __future__ import annotations

from xml.etree import ElementTree as ET

from eval_pipeline.junit_xml import add_outcome, add_suite, junit_root, junit_test, junit_text
from eval_pipeline.report.case_reports import CaseReport
from eval_pipeline.report.stage_report import StageReport
from eval_pipeline.suites import key_name


def report_junit(report: StageReport) -> str:
    """One suite of tests, a test for each case and repeat.

    A case that failed, and one whose run broke off, is a failure; one that a provider, a judge or a scorer
    kept from being measured is an error; one that no gating stage has a word on is skipped.
    """
    cell = report.cell
    repeats = report.summary.runs > report.summary.cases
    root = junit_root(f"eval of {cell.suite}")
    group = f"{cell.suite}.{key_name(cell.candidate)}.{key_name(cell.dataset)}"
    add_suite(root, group, (_test(row, group, repeats) for row in report.rows))
    return junit_text(root)


def _test(row: CaseReport, group: str, repeats: bool) -> ET.Element:
    name = f"{row.trace.case_id}[{row.trace.repeat}]" if repeats else row.trace.case_id
    test = junit_test(name, group)
    if row.outcome == "passed":
        return test
    stage = row.first_failure
    if stage is None:
        add_outcome(test, "skipped", "not_measured", "no gating stage applies to this case")
        return test
    check = row.checks.get(stage)
    reason = check.reason if check else f"{row.trace.error and row.trace.error.message}"
    own_doing = row.outcome == "failed" or row.first_failure_source == "system"
    text = f"{stage}: {reason}\nquestion: {row.question}\nanswer: {row.trace.answer}"
    add_outcome(test, "failure" if own_doing else "error", stage, text)
    return test
