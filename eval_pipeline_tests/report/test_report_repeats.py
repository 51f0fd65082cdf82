"""The report of cases run several times: pass k of n, flips, and the rates that count runs."""

from __future__ import annotations

import pytest

from eval_pipeline.errors import NotStoredError
from eval_pipeline.report.json_form import report_data
from eval_pipeline.report.markdown import report_markdown
from eval_pipeline.report.repeats import CaseRepeats
from eval_pipeline.report.rows import run_of
from eval_pipeline.report.stage_report import StageReport, build_report
from eval_pipeline.report.text import report_text
from eval_pipeline.statistics import Rate
from eval_pipeline_tests.report_suite import GROUNDING, TOOLS, check, make_suite, trace_of

OUTCOMES = {"steady": "PPP", "shaky": "PFP", "broken": "FFF", "cut off": "PVP"}
"""A letter a repeat: passed, failed, or an error of the provider, which measures nothing."""


def repeated_report(outcomes: dict[str, str] = OUTCOMES, advisory: str = "PPF") -> StageReport:
    """Three repeats a case; `advisory` is how grounding, which never gates, came out for `steady`."""
    suite = make_suite({case: ["tools"] for case in outcomes}, (TOOLS, GROUNDING), repeats=3)
    runs = [(case, n, letter) for case, letters in outcomes.items() for n, letter in enumerate(letters)]
    traces = [trace_of(case, "search", repeat=n) for case, n, _ in runs]
    checks = [
        check(case, TOOLS, None, "http_503: overloaded", repeat=n, error_source="provider")
        if letter == "V"
        else check(case, TOOLS, float(letter == "P"), repeat=n)
        for case, n, letter in runs
    ]
    grounded = [("steady", n, letter) for n, letter in enumerate(advisory)] if "steady" in outcomes else []
    checks += [check(case, GROUNDING, float(letter == "P"), repeat=n) for case, n, letter in grounded]
    return build_report(suite, suite.cells[0], traces, checks)


TEXT = """\
runs       12: 7 passed, 4 failed, 1 error
passed     7/11 (0.23–0.91)
cases      4: 1 pass 3 of 3, 1 flaky, 1 pass 0 of 3, 1 not measured in full
  steady   passes 3 of 3, flips at (grounding)
  shaky    flaky: passes 2 of 3, flips at tools
rates      count runs; their intervals are those of 4 cases, as repeats are no further cases
tools      7/11 (0.23–0.91), 1 error, flips in 1 case, 11/12 scored
grounding  2/3 (0.09–0.97), flips in 1 case, 9 not measured (this stage applies and has not been scored), \
never gates, 3/12 scored
"""


def test_the_summary_says_pass_k_of_n_and_what_the_rates_count() -> None:
    # 7 of 11 with the interval of 4 cases: centre 1.1166, half 0.6729, scale 1.9604 → 0.23–0.91.
    # Grounding was measured on one case: centre 2.5874, half 2.1314, scale 4.8415 → 0.09–0.97.
    assert report_text(repeated_report()).partition("\n\n")[2].partition("\n\n")[2] == TEXT


def test_the_table_has_a_row_for_each_repeat() -> None:
    rows = report_text(repeated_report({"shaky": "PFP"})).splitlines()[3:8]
    assert [" ".join(row.split()) for row in (rows[0], *rows[2:])] == [
        "case repeat tools called tools first failure",
        "shaky 0 search pass –",
        "shaky 1 search fail tools",
        "shaky 2 search pass –",
    ]


def test_markdown_lists_the_cases_below_their_count() -> None:
    text = report_markdown(repeated_report())
    assert "\n- cases: 4: 1 pass 3 of 3, 1 flaky" in text
    assert "\n  - shaky: flaky: passes 2 of 3, flips at tools\n" in text


def test_each_case_is_summed_up_over_its_repeats() -> None:
    report = repeated_report()
    assert report.summary.repeated == (
        CaseRepeats("steady", 3, 3, 3, ("grounding",)),
        CaseRepeats("shaky", 3, 3, 2, ("tools",)),
        CaseRepeats("broken", 3, 3, 0, ()),
        CaseRepeats("cut off", 3, 2, 2, ()),
    )
    assert [case.steadiness for case in report.summary.repeated] == ["every", "flaky", "none", "incomplete"]
    assert report.summary.rate == Rate(7, 11, cases=4)
    assert {name: report.numbers()[name] for name in ("cases", "runs", "flaky")} == {
        "cases": 4,
        "runs": 12,
        "flaky": 1,
    }


def test_a_system_that_breaks_off_in_one_repeat_is_flaky_and_a_provider_is_not() -> None:
    broke = check("a", TOOLS, None, "raised", repeat=1, error_source="system")
    suite = make_suite({"a": ["tools"]}, (TOOLS,), repeats=2)
    traces = [trace_of("a"), trace_of("a", repeat=1)]
    report = build_report(suite, suite.cells[0], traces, [check("a", TOOLS, 1.0), broke])
    assert report.summary.repeated == (CaseRepeats("a", 2, 2, 1, ("tools",)),)


def test_json_holds_each_case_with_its_repeats() -> None:
    data = report_data(repeated_report())
    assert data["key"]["repeats"] == 3
    assert data["summary"]["repeats"]["cases"][1] == {
        "id": "shaky",
        "passed": 2,
        "measured": 3,
        "runs": 3,
        "flaky": True,
        "flips": ["tools"],
    }
    counts = {name: n for name, n in data["summary"]["repeats"].items() if name != "cases"}
    assert counts == {"every": 1, "flaky": 1, "none": 1, "incomplete": 1}
    assert (data["summary"]["pass_rate"]["of"], data["summary"]["pass_rate"]["cases"]) == (11, 4)
    assert data["summary"]["stages"]["tools"]["flips"] == 1
    assert run_of(repeated_report(), "r", "none").repeats == 3


def test_a_long_list_of_flaky_cases_is_cut() -> None:
    text = report_text(repeated_report({f"case-{n:02}": "PFP" for n in range(25)}))
    assert "case-19" in text.partition("\nruns")[2]
    assert "case-20" not in text.partition("\nruns")[2]
    assert "5 more: eval-pipeline sql 'from current_case_repeats'" in text


@pytest.mark.parametrize(
    ("stored", "problem"),
    [
        (range(1), "runs without a trace: a repeat 1, a repeat 2"),
        (range(4), "traces of no run: a repeat 3"),
    ],
)
def test_results_of_another_number_of_repeats_are_refused(stored: range, problem: str) -> None:
    suite = make_suite({"a": ["tools"]}, (TOOLS,), repeats=3)
    traces = [trace_of("a", repeat=n) for n in stored]
    with pytest.raises(NotStoredError, match=f"{problem}.*run: eval-pipeline run assistant"):
        build_report(suite, suite.cells[0], traces, [])


def test_a_refusal_names_a_few_runs_and_counts_the_rest() -> None:
    suite = make_suite({name: ["tools"] for name in "abcdefg"}, (TOOLS,))
    with pytest.raises(NotStoredError, match="runs without a trace: a, b, c, d, e and 2 more"):
        build_report(suite, suite.cells[0], [], [])
