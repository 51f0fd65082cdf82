from __future__ import annotations

from dataclasses import replace

import pytest

from eval_pipeline.comparing.comparison import compare
from eval_pipeline_tests.comparing.sides import side_of
from eval_pipeline_tests.report_suite import RELEVANCY, check, trace_of


def judged(judge: str, values: str):
    """A side whose judge passed (+), failed (-) or could not score (?) the cases in turn."""
    runs = []
    for place, sign in enumerate(values):
        name = f"case-{place}"
        value = {"+": 1.0, "-": 0.0, "?": None}[sign]
        runs.append((trace_of(name), [check(name, RELEVANCY, value, "as seen", judge=judge)]))
    return side_of(*runs, ladder=(RELEVANCY,))


def agreement(first: str, second: str):
    (found,) = compare(judged("openai:a@1", first), judged("openai:b@2", second)).judges
    return found


def test_two_judges_of_the_same_traces_are_compared():
    found = agreement("++++----", "+++---+-")
    # Agree on 3 passes and 3 fails of 8. Each says yes to 4 of 8, so chance gives 0.5: (0.75 - 0.5) / 0.5.
    assert (found.both, found.agree, found.passed) == (8, 6, (4, 4))
    assert found.kappa == pytest.approx(0.5)
    assert [(d.case_id, d.before.outcome, d.after.outcome) for d in found.differ] == [
        ("case-3", "passed", "failed"),
        ("case-6", "failed", "passed"),
    ]


@pytest.mark.parametrize(("first", "second"), [("++++", "++--"), ("++--", "++++"), ("----", "----")])
def test_kappa_is_undefined_where_a_judge_says_only_one_of_the_two(first, second):
    assert agreement(first, second).kappa is None


def test_a_score_that_took_no_judge_is_no_agreement():
    before, after = judged("openai:a@1", "+--"), judged("openai:b@2", "+--")
    for side in (before, after):
        (run,) = side.runs["case-2"]
        run.checks["relevancy"] = replace(run.checks["relevancy"], judge=None)
    (found,) = compare(before, after).judges
    assert (found.both, found.agree) == (2, 2)


def test_what_one_judge_could_not_score_counts_apart():
    found = agreement("+-?+", "+-+?")
    assert (found.both, found.one_only, found.agree) == (2, 2, 2)


def test_other_answers_say_nothing_of_the_judges():
    before, after = judged("openai:a@1", "+-"), judged("openai:b@2", "+-")
    for runs in after.runs.values():
        object.__setattr__(runs[0].trace, "answer", "Another answer.")
    assert compare(before, after).judges == ()


def test_one_judge_is_not_compared_with_itself():
    assert compare(judged("openai:a@1", "+-"), judged("openai:a@1", "+-")).judges == ()
