import io
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import pytest
from rich.cells import cell_len
from rich.console import Console

from eval_pipeline.report.markdown import report_markdown
from eval_pipeline.report.stage_report import StageReport, build_report
from eval_pipeline.report.table import shown, summary_lines, table_headings, table_rows
from eval_pipeline.report.text import print_report, report_text
from eval_pipeline.scorers.structured import FieldEquals
from eval_pipeline.scores import CheckResult, Stage
from eval_pipeline_tests.report.test_inert_text import GITHUB, HOSTILE
from eval_pipeline_tests.report_suite import (
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


def one_case_report(
    *calls: str, case_id: str = "a", checks: tuple[CheckResult, ...] = (), k: int | None = 3
) -> StageReport:
    suite = make_suite({case_id: []}, (TOOLS, RETRIEVAL, RELEVANCY), k)
    return build_report(suite, suite.cells[0], [trace_of(case_id, *calls)], checks)


def printed(report: StageReport, width: int, terminal: bool) -> str:
    console = Console(
        file=io.StringIO(),
        width=width,
        force_terminal=terminal,
        color_system="truecolor",
        legacy_windows=False,
    )
    print_report(report, console)
    return console.file.getvalue()  # type: ignore[attr-defined]


def cells(report: StageReport) -> list[str]:
    return [cell.text for cell in table_rows(report)[0]]


def test_the_text_is_as_committed() -> None:
    assert report_text(sample_report()) == (GOLDEN / "report.txt").read_text(encoding="utf-8")


def test_the_markdown_is_as_committed() -> None:
    assert report_markdown(sample_report()) == (GOLDEN / "report.md").read_text(encoding="utf-8")


def test_outside_a_terminal_nothing_is_wrapped_coloured_or_cut() -> None:
    assert printed(sample_report(), 20, terminal=False) == report_text(sample_report())


@pytest.mark.parametrize("width", [40, 80, 200])
def test_on_a_terminal_every_line_fits_and_nothing_is_cut(width: int) -> None:
    text = re.sub(r"\x1b\[[0-9;]*m", "", printed(sample_report(), width, terminal=True))
    assert max(map(cell_len, text.splitlines())) <= width
    assert "…" not in text


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_is_inert_in_every_form(text: str) -> None:
    report = one_case_report(text, case_id="id " + text.replace("::", ""))
    plain = report_text(report)
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", plain)
    assert len(plain.splitlines()) == len(report_text(one_case_report("x")).splitlines())
    on_terminal = re.sub(r"\x1b\[[0-9;]*m", "", printed(report, 300, terminal=True))
    assert "\x1b" not in on_terminal
    assert plain.splitlines()[5].split("  ")[0] in on_terminal
    rendered = GITHUB.render(report_markdown(report))
    assert rendered.count("<tr>") == 2
    assert rendered.count("<td") == len(table_headings(report))
    assert not re.search(r"<(?!/?(h3|p|code|table|thead|tbody|tr|th|td|ul|li)\b)", rendered)


def test_wide_signs_stay_aligned() -> None:
    suite = make_suite({"漢字": [], "ab": []}, (TOOLS,))
    report = build_report(suite, suite.cells[0], [trace_of("漢字", "x"), trace_of("ab", "x")], [])
    first, second = report_text(report).splitlines()[5:7]
    assert cell_len(first[: first.index("x")]) == cell_len(second[: second.index("x")]) == 6


def test_a_call_made_again_is_counted() -> None:
    report = one_case_report("search", "search", "get", "search")
    assert cells(report)[1] == "search ×2, get, search"


def test_a_case_without_calls_or_stages_shows_so() -> None:
    assert cells(one_case_report()) == ["a", "–", "–", "–", "–", "–", "–", "not measured"]


@pytest.mark.parametrize(("calls", "headings"), [([], ["case", "label"]), (["a"], ["case", "tools called"])])
def test_tools_have_no_column_where_none_is_expected_or_called(calls: list[str], headings: list[str]) -> None:
    suite = make_suite({"a": []}, (Stage("label", FieldEquals("label")),))
    report = build_report(suite, suite.cells[0], [trace_of("a", *calls)], [])
    assert table_headings(report)[:2] == headings
    assert len(table_rows(report)[0]) == len(table_headings(report))


@pytest.mark.parametrize(("k", "heading"), [(1, "hit@1"), (None, "hit@k")])
def test_k_is_the_candidates(k: int | None, heading: str) -> None:
    report = one_case_report(checks=(pages("a", 1.0, 1),), k=k)
    assert table_headings(report)[3] == heading
    assert (f"  {heading}", "1/1 (0.21–1.00)") in summary_lines(report)


def test_a_stage_that_does_not_gate_stands_in_brackets_until_it_does() -> None:
    assert table_headings(one_case_report())[-2] == "(relevancy)"
    gating = one_case_report(checks=(check("a", RELEVANCY, 0.7, gating=True),))
    assert table_headings(gating)[-2] == "relevancy"


@pytest.mark.parametrize(
    ("outcome", "cell", "first_failure"),
    [
        (check("a", TOOLS, 1.0), "pass", "–"),
        (check("a", TOOLS, 0.0), "fail", "tools"),
        (check("a", TOOLS, 0.5), "fail 0.50", "tools"),
        (check("a", TOOLS, 1.0, outcome="failed"), "fail", "tools"),
        (check("a", TOOLS, None, outcome="failed"), "fail", "tools"),
        (check("a", TOOLS, None, error_source="judge"), "error", "tools (error: judge)"),
        (check("a", TOOLS, None, outcome="not_measured"), "not measured", "tools (not measured)"),
    ],
)
def test_the_four_outcomes_read_differently(outcome: CheckResult, cell: str, first_failure: str) -> None:
    row = cells(one_case_report(checks=(outcome,)))
    assert (row[2], row[-1]) == (cell, first_failure)


@dataclass(frozen=True)
class Worded(Check):
    columns: ClassVar[Mapping[str, str]] = {"label": "label", "count": "n", "absent": "absent"}


def test_a_columns_detail_may_be_words_numbers_or_absent() -> None:
    stage = Stage("route", Worded("tools"))
    suite = make_suite({"a": ["tools"]}, (stage,))
    scored = check("a", stage, 1.0, details={"label": "<refund>", "count": 3})
    row = table_rows(build_report(suite, suite.cells[0], [trace_of("a")], [scored]))[0]
    assert [(cell.text, cell.foreign) for cell in row[2:5]] == [("<refund>", True), ("3", True), ("–", False)]


def test_repeats_have_a_column_and_are_counted_as_runs() -> None:
    suite = make_suite({"a": ["tools"]}, (TOOLS,), repeats=2)
    traces = [trace_of("a"), trace_of("a", repeat=1)]
    checks = [check("a", TOOLS, 1.0), check("a", TOOLS, 0.0, repeat=1)]
    report = build_report(suite, suite.cells[0], traces, checks)
    assert table_headings(report)[:2] == ["case", "repeat"]
    assert [row[1].text for row in table_rows(report)] == ["0", "1"]
    assert summary_lines(report)[0] == ("runs", "2: 1 passed, 1 failed")


@pytest.mark.parametrize(
    ("value", "text"),
    [(1.0, "1.00"), (0.999, "0.99"), (0.994, "0.99"), (0.0, "0.00"), (0.001, "0.01"), (1 / 3, "0.33")],
)
def test_a_share_is_never_rounded_to_all_or_nothing(value: float, text: str) -> None:
    assert shown(value) == text


def test_a_stage_that_applies_to_no_case_says_so() -> None:
    assert ("retrieval", "applies to no case") in summary_lines(one_case_report())


def test_a_stage_of_errors_alone_measured_nothing() -> None:
    suite = make_suite({"a": ["tools"]}, (replace(TOOLS, gating="when_calibrated"),))
    failed = check("a", TOOLS, None, error_source="judge", gating=False)
    report = build_report(suite, suite.cells[0], [trace_of("a")], [failed])
    assert summary_lines(report)[2] == (
        "tools",
        "nothing measured, 1 error, advisory: judge not calibrated, 0/1 scored",
    )


def test_an_advisory_stage_that_measured_nothing_has_no_column_and_a_summary_line() -> None:
    suite = make_suite({"a": ["tools"]}, (TOOLS, RELEVANCY))
    passed = check("a", TOOLS, 1.0)
    report = build_report(suite, suite.cells[0], [trace_of("a")], [passed])
    assert table_headings(report) == ["case", "tools called", "tools", "first failure"]
    assert any(label == "relevancy" and "nothing measured" in text for label, text in summary_lines(report))
