from __future__ import annotations

from dataclasses import replace

import pytest

from eval_pipeline.cases import Case
from eval_pipeline.comparing.comparison import Comparison, Shift, compare
from eval_pipeline.comparing.configuration import Change
from eval_pipeline.comparing.verdict import Verdict
from eval_pipeline.report.comparison_blocks import notes
from eval_pipeline.statistics import Rate
from eval_pipeline.traces import RetrievedDocument, TraceError
from eval_pipeline_tests.comparing.sides import run_of, side_of
from eval_pipeline_tests.report_suite import GROUNDING, RETRIEVAL, TOOLS, check, trace_of


def compared(before: dict[str, float | None], after: dict[str, float | None]) -> Comparison:
    """Cases with the value of their `tools` check on each side; below 1 fails, None is a scorer's error."""
    first, second = ([run_of(name, value) for name, value in side.items()] for side in (before, after))
    return compare(side_of(*first), side_of(*second, candidate="bot@333333333333"))


def test_cases_are_worse_better_the_same_or_unmeasured():
    before = {"a": 1.0, "b": 0.0, "c": 1.0, "d": 0.0, "e": 1.0}
    comparison = compared(before, {"a": 0.0, "b": 1.0, "c": 1.0, "d": 0.5, "e": None})
    directions = {case.case_id: case.direction for case in comparison.cases}
    assert directions == {"a": "worse", "b": "better", "c": "same", "d": "same", "e": "unmeasured"}
    assert comparison.verdict == Verdict(worse=1, better=1, same=2, unmeasured=1)


@pytest.mark.parametrize(
    ("verdict", "words"),
    [
        # 2 · (C(4,0) + C(4,1)) / 2⁴ = 2 · 5 / 16
        (Verdict(3, 1, 6, 0), "3 worse, 1 better of 10: could be chance (exact McNemar p = 0.62)"),
        # 2 · C(6,0) / 2⁶ = 2 / 64
        (Verdict(6, 0, 4, 0), "6 worse, none better of 10: unlikely to be chance (exact McNemar p = 0.031)"),
        # 2 / 2²⁰
        (
            Verdict(0, 20, 0, 1),
            "none worse, 20 better of 20: unlikely to be chance (exact McNemar p < 0.0001); 1 not measured",
        ),
        (Verdict(0, 0, 10, 0), "none worse, none better of 10"),
        (Verdict(0, 0, 0, 2), "nothing to compare: no case is measured on both sides; 2 not measured"),
    ],
)
def test_the_verdict_is_put_in_plain_words(verdict, words):
    assert verdict.words == words


def test_a_case_of_several_repeats_goes_by_the_share_that_passes():
    before = side_of(run_of("a", 1.0), run_of("a", 1.0, repeat=1), run_of("a", 0.0, repeat=2))
    after = side_of(run_of("a", 1.0), run_of("a", 0.0, repeat=1), run_of("a", 0.0, repeat=2))
    comparison = compare(before, after)
    assert comparison.verdict == Verdict(1, 0, 0, 0)  # 2 of 3 became 1 of 3
    # Three runs of one case: their interval is that of the same share of one case.
    assert comparison.passed == (Rate(2, 3, cases=1), Rate(1, 3, cases=1))
    tools = comparison.stages[0]
    assert (tools.before, tools.after) == (Rate(2, 3, cases=1), Rate(1, 3, cases=1))


def test_the_first_failure_that_shifts_is_told_with_its_cases():
    def run(name, tools, pages):
        return trace_of(name), [check(name, TOOLS, tools), check(name, RETRIEVAL, pages)]

    before = side_of(run("a", 1.0, 0.0), run("b", 1.0, 0.0), run("c", 1.0, 1.0))
    after = side_of(run("a", 0.0, 0.0), run("b", 0.0, 1.0), run("c", 1.0, 0.0))
    assert compare(before, after).shifts == (
        Shift("retrieval", "tools", ("a", "b")),
        Shift(None, "retrieval", ("c",)),
    )


def test_stages_are_compared_one_by_one_with_whether_they_gate():
    def run(name, grounding):
        return trace_of(name), [check(name, TOOLS, 1.0), check(name, GROUNDING, grounding)]

    comparison = compare(side_of(run("a", 1.0), run("b", 0.0)), side_of(run("a", 0.0), run("b", 0.0)))
    tools, grounding = comparison.stages
    assert (tools.before, tools.after, tools.verdict) == (Rate(2, 2), Rate(2, 2), Verdict(0, 0, 2, 0))
    assert (grounding.before, grounding.after) == (Rate(1, 2), Rate(0, 2))
    assert (grounding.verdict, grounding.gating) == (Verdict(1, 0, 1, 0), (False, False))
    assert comparison.verdict == Verdict(0, 0, 2, 0)


def test_stages_stand_in_declared_order_whichever_case_comes_first():
    late = trace_of("a"), [check("a", GROUNDING, 1.0)]
    full = trace_of("b"), [check("b", stage, 1.0) for stage in (TOOLS, RETRIEVAL, GROUNDING)]
    cases = [Case("a", "a?"), Case("b", "b?", expected={"tools": [], "pages": []})]
    comparison = compare(side_of(late, full, cases=cases), side_of(late, full, cases=cases))
    assert [stage.name for stage in comparison.stages] == ["tools", "retrieval", "grounding"]


def test_pages_and_tools_that_came_and_went_are_told():
    def found(*ids):
        return tuple(RetrievedDocument(name, rank, 1.0, "", 0) for rank, name in enumerate(ids, start=1))

    before = run_of("a", retrieved=found("init", "debug", "debug"))
    after = run_of("a", retrieved=found("debug", "config"), tool_calls=())
    (case,) = compare(side_of(before), side_of(after)).cases
    (run,) = case.runs
    assert (run.pages.gained, run.pages.lost) == (("config",), ("init",))
    assert (run.tools.gained, run.tools.lost) == ((), ("search_docs",))


def test_common_cases_are_compared_and_the_rest_is_listed():
    comparison = compared({"a": 1.0, "old": 1.0}, {"a": 0.0, "new": 0.0})
    assert [case.case_id for case in comparison.cases] == ["a"]
    assert (comparison.only_before, comparison.only_after) == (("old",), ("new",))


def test_an_edited_case_counts_in_nothing():
    first = [Case("a", "a?", expected={"tools": ["x"]}), Case("b", "b?", expected={"tools": ["x"]})]
    second = [replace(first[0], reference="An answer."), first[1]]
    comparison = compare(
        side_of(run_of("a", 1.0), run_of("b", 1.0), cases=first),
        side_of(run_of("a", 0.0), run_of("b", 1.0), cases=second),
    )
    assert [case.case_id for case in comparison.edited] == ["a"]
    assert comparison.verdict == Verdict(0, 0, 1, 0)
    assert comparison.passed == (Rate(1, 1), Rate(1, 1))


def test_an_expectation_that_a_new_stage_left_at_its_default_is_no_edit():
    first = [Case("a", "a?", expected={"tools": ["x"]})]
    second = [Case("a", "a?", expected={"tools": ["x"], "words": []})]
    comparison = compare(side_of(run_of("a"), cases=first), side_of(run_of("a"), cases=second))
    assert comparison.edited == ()


def test_what_changed_in_the_configuration_is_told_field_by_field():
    before = side_of(run_of("a"), key={"model": "openai:a", "judge_id": "1", "k": 3})
    after = side_of(
        run_of("a"),
        key={
            "model": "openai:b",
            "judge_id": "1",
            "k": 1,
            "parameters": {"k": 1, "shout": True},
            "stages": [{"name": "tools", "threshold": 0.5}, {"name": "retrieval", "threshold": 1.0}],
        },
    )
    comparison = compare(before, after)
    assert comparison.changes == (
        Change("parameters.k", 3, 1),
        Change("parameters.shout", None, True),
        Change("model", "openai:a", "openai:b"),
        Change("stages.tools.threshold", 1.0, 0.5),
        Change("stages.grounding", {"threshold": 0.9}, None),
    )
    assert notes(comparison) == [
        "the stages are declared differently (stages.tools.threshold, stages.grounding): their outcomes are "
        "not like for like"
    ]


def test_a_prompt_that_is_no_longer_stored_is_told_by_its_hash():
    before = side_of(run_of("a"), key={"prompt_sha": "aaaa"}, prompt=None)
    after = side_of(run_of("a"), key={"prompt_sha": "bbbb"}, prompt="Be brief.")
    prompt = compare(before, after).prompt
    assert prompt is not None
    assert (prompt.before_sha, prompt.after_sha, prompt.diff) == ("aaaa", "bbbb", None)


def test_a_judge_that_changed_with_the_answers_is_warned_about():
    before = side_of(run_of("a", answer="One."), key={"judge_id": "1"})
    after = side_of(run_of("a", answer="Two."), key={"judge_id": "2"})
    assert notes(compare(before, after)) == [
        "the judge differs, and so may what judged stages say of the same answer; run both sides with one "
        "judge"
    ]


def test_a_run_that_broke_off_is_measured_and_worse():
    error = TraceError("system", "tool_limit", "more than 5 rounds")
    broken = (
        run_of("a", None, error=error)[0],
        [check("a", TOOLS, None, error_source="system", reason="tool_limit: more than 5 rounds")],
    )
    assert compare(side_of(run_of("a")), side_of(broken)).verdict == Verdict(1, 0, 0, 0)
