from __future__ import annotations

from dataclasses import replace

import pytest

from eval_pipeline.gating.check_states import Standing, pass_by_rule, standing_of, state_checks
from eval_pipeline_tests.gating.builders import LETTERS, run


@pytest.mark.parametrize(
    ("letter", "standing"),
    [
        ("P", "pass"),
        ("F", "fail"),
        ("S", "fail"),
        ("x", "fail"),
        ("V", "unmeasured"),
        ("J", "unmeasured"),
        ("C", "unmeasured"),
        ("E", "unmeasured"),
        ("N", "unmeasured"),
        ("k", "unmeasured"),
        ("X", "unmeasured"),
    ],
)
def test_what_an_outcome_is_worth(letter: str, standing: str) -> None:
    assert standing_of(*LETTERS[letter]) == standing


@pytest.mark.parametrize(
    ("passes", "fails", "repeats", "all_rule", "majority_rule"),
    [
        (3, 0, 3, "pass", "pass"),
        (2, 1, 3, "fail", "pass"),
        (1, 2, 3, "fail", "fail"),
        (2, 2, 4, "fail", "fail"),  # half is no majority
        (2, 0, 3, "unmeasured", "pass"),
        (1, 0, 3, "unmeasured", "unmeasured"),  # 1 of 3 now, up to 3 of 3
        (1, 1, 3, "fail", "unmeasured"),  # up to 2 of 3
        (0, 1, 2, "fail", "fail"),  # at most 1 of 2
        (0, 0, 1, "unmeasured", "unmeasured"),
    ],
)
def test_repeats_by_rule(
    passes: int, fails: int, repeats: int, all_rule: Standing, majority_rule: Standing
) -> None:
    assert pass_by_rule(passes, fails, repeats, "all") == all_rule
    assert pass_by_rule(passes, fails, repeats, "majority") == majority_rule


@pytest.mark.parametrize(
    ("letters", "label"),
    [
        ("P", "passed"),
        ("S", "error (system)"),
        ("E", "error (source not named)"),
        ("N", "not measured"),
        ("P/F/V/F", "passed 1/4, error (provider) 1, failed 2"),
        ("P/P", "passed 2/2"),
    ],
)
def test_a_state_in_words(letters: str, label: str) -> None:
    (check,) = state_checks(run(letters), "all").values()

    assert check.state.label == label


def test_a_check_is_skipped_only_if_every_repeat_is() -> None:
    skipped, partly = (state_checks(run(letters), "all") for letters in ("k/k", "k/P"))

    assert next(iter(skipped.values())).state.skipped
    assert not next(iter(partly.values())).state.skipped


def test_repeats_flip_when_they_disagree() -> None:
    flips, same = (state_checks(run(letters), "all") for letters in ("P/F", "P/P"))

    assert next(iter(flips.values())).state.flips
    assert not next(iter(same.values())).state.flips


def test_a_judges_repeats_are_no_repeats_of_the_case() -> None:
    once = run("P", repeats=3)
    judged = tuple(once.tests[0]._replace(judge_repeat=repeat) for repeat in range(3))

    check = state_checks(replace(once, tests=judged), "majority")["toy::c0::tools"]

    # one of three runs, scored three times: 6 of 9 results are lacking, so that 3 to 9 may pass
    assert (check.rows, check.state.label) == (1, "passed 3/9, no result 6")
    assert check.state.standing == "unmeasured"
