from __future__ import annotations

import time
from typing import Any

import pytest

from eval_pipeline.gating.decide import decide
from eval_pipeline.gating.outcomes import CheckOutcome, DeclaredStage, JudgeRecord, Outcomes, RunUsage
from eval_pipeline.gating.policy import Policy, PolicyError
from eval_pipeline_tests.gating.builders import eval_block, rules, run, run_of


@pytest.mark.parametrize(
    ("verdict", "after", "code"), [("pass", "P", 0), ("block", "F", 1), ("inconclusive", "V", 3)]
)
def test_each_verdict_has_its_exit_code(verdict: str, after: str, code: int) -> None:
    decision = decide(run("P"), run(after), Policy(min_pass_rate=0))

    assert (decision.verdict, decision.exit_code) == (verdict, code)


def test_incomparable_exits_with_2_and_compares_no_tests() -> None:
    decision = decide(run("PF"), run("FP", cases_sha="cases-b"), Policy(min_pass_rate=0))

    assert (decision.verdict, decision.exit_code) == ("incomparable", 2)
    assert not decision.compared
    assert decision.regressed == decision.fixed == decision.missing == ()


def test_incomparable_sides_still_show_a_critical_failure_of_the_candidate() -> None:
    policy = Policy(critical=("tools",), min_pass_rate=0)

    decision = decide(run("PP"), run("FP", cases_sha="cases-b"), policy)

    assert rules(decision) == ["comparable", "critical"]


def test_an_agent_that_stopped_calling_tools_failed_and_is_comparable() -> None:
    # The context stage applies by the case's expectations, so that its outcome is there, and failed.
    before = run_of({"tools": "PP", "faithfulness": "PP"})
    after = run_of({"tools": "FP", "faithfulness": "FP"})

    decision = decide(before, after, Policy())

    assert decision.verdict == "block"
    assert [test.nodeid for test in decision.regressed] == ["toy::c0::tools", "toy::c0::faithfulness"]


def test_a_fix_is_listed() -> None:
    decision = decide(run("FP"), run("PP"), Policy())

    assert [test.nodeid for test in decision.fixed] == ["toy::c0::tools"]


def test_lists_name_what_moved() -> None:
    decision = decide(run("PFFP-S"), run("F-PVPS"), Policy(critical=("tools",)))

    listed = {
        "regressed": decision.regressed,
        "fixed": decision.fixed,
        "missing": decision.missing,
        "new": decision.new,
        "errors": decision.errors,
        "unmeasured": decision.unmeasured,
        "critical": decision.critical_failures,
    }
    assert {name: [test.case for test in tests] for name, tests in listed.items()} == {
        "regressed": ["c0"],
        "fixed": ["c2"],
        "missing": ["c1"],
        "new": ["c4"],
        "errors": ["c3", "c5"],
        "unmeasured": ["c3"],
        "critical": ["c0", "c5"],
    }


def test_a_reason_names_the_first_tests_and_counts_the_rest() -> None:
    decision = decide(run("P" * 8), run("F" * 8), Policy(min_pass_rate=0))

    (reason,) = decision.reasons
    assert reason.text == (
        "8 regressions, max_regressions is 0: toy::c0::tools (passed → failed), "
        "toy::c1::tools (passed → failed), toy::c2::tools (passed → failed), "
        "toy::c3::tools (passed → failed), toy::c4::tools (passed → failed), and 3 more"
    )
    assert len(reason.tests) == 8


def test_paired_odds_are_put_in_words() -> None:
    # worse 3, better 1: 2 · (1 + 4)/16 = 0.625; the missing test is no paired one.
    decision = decide(run("PPPFPP"), run("FFFPP-"), Policy(min_pass_rate=0))

    assert decision.odds == "3 worse, 1 better of 5 measured on both sides: could be chance (p = 0.62)"


# Repeats


@pytest.mark.parametrize(
    ("before", "after", "policy", "verdict"),
    [
        ("P/P/P", "P/F/P", {}, "block"),  # all must pass
        ("P/P/P", "P/F/P", {"case_passes": "majority"}, "pass"),  # 2 of 3
        ("P/P/P", "P/F/F", {"case_passes": "majority"}, "block"),  # 1 of 3
        ("P/P/P", "P/F/P/F", {"case_passes": "majority"}, "block"),  # 2 of 4 is no majority
        ("P", "P/F/P", {"case_passes": "majority"}, "pass"),  # unequal counts: 1 of 1 and 2 of 3
        ("P/P/P", "P", {}, "pass"),
        ("P/P/P", "P", {"repeats_required": 3}, "inconclusive"),
        ("P", "P/P/P", {"repeats_required": 3}, "pass"),
        ("F/P/P", "P/F/P", {}, "pass"),  # failed before as well
        ("P/P/P", "P/V/P", {}, "inconclusive"),  # the provider's fault hides whether all pass
        ("P/P/P", "P/V/P", {"case_passes": "majority"}, "pass"),  # 2 of 3, whatever the third is
        ("P/P/P", "P/V/F", {"case_passes": "majority"}, "inconclusive"),
    ],
)
def test_repeats_are_compared_by_the_rule(
    before: str, after: str, policy: dict[str, Any], verdict: str
) -> None:
    decision = decide(run(before), run(after), Policy(min_pass_rate=0, **policy))

    assert decision.verdict == verdict


def test_a_repeat_that_is_declared_and_not_there_is_unmeasured() -> None:
    before = run_of({"tools": "P/P/P", "label": "P/P/P"}, repeats=3)
    after = run_of({"tools": "P/P", "label": "P/P/P"}, repeats=3)

    decision = decide(before, after, Policy())

    assert rules(decision) == ["max_unmeasured"]
    assert decision.unmeasured[0].candidate is not None
    assert decision.unmeasured[0].candidate.label == "passed 2/3, no result 1"


def test_flaky_tests_are_listed() -> None:
    decision = decide(run("P/P/P"), run("P/F/P"), Policy(case_passes="majority"))

    assert [test.nodeid for test in decision.flaky] == ["toy::c0::tools"]


# Judges

CALIBRATED = JudgeRecord(calibrated=True, defects=8, caught=8, sound=8, false_alarms=0)
WEAK = JudgeRecord(calibrated=False, defects=8, caught=2, sound=8, false_alarms=1)
WAITS = (DeclaredStage(name="faithful", threshold=0.7, scorer="judge", gating="when_calibrated"),)
ALWAYS = (DeclaredStage(name="faithful", threshold=0.7, scorer="judge", gating="always"),)


@pytest.mark.parametrize(
    ("letters", "stages", "calibration", "verdict"),
    [
        ("P", WAITS, {"faithful": CALIBRATED}, "pass"),
        ("p", WAITS, {"faithful": WEAK}, "inconclusive"),
        ("P", ALWAYS, {"faithful": WEAK}, "inconclusive"),
        ("P", ALWAYS, {}, "inconclusive"),  # not in the calibration: uncalibrated
        ("p", WAITS, {"faithful": CALIBRATED}, "inconclusive"),  # calibrated since, and not run again
        ("P", WAITS, None, "pass"),  # it gates, which it does when calibrated
        ("p", WAITS, None, "inconclusive"),
        ("P", ALWAYS, None, "inconclusive"),  # nothing says so
    ],
)
def test_a_required_judge_must_be_calibrated(
    letters: str, stages: tuple[DeclaredStage, ...], calibration: Any, verdict: str
) -> None:
    outcomes = run_of({"tools": "P", "faithful": letters}, stages=stages)
    policy = Policy(require_calibrated_judge=("faithful",))

    decision = decide(outcomes, outcomes, policy, calibration)

    assert decision.verdict == verdict
    assert rules(decision) == ([] if verdict == "pass" else ["require_calibrated_judge"])


def test_an_uncalibrated_judge_is_no_matter_where_none_is_required() -> None:
    outcomes = run_of({"tools": "P", "faithful": "f"}, stages=WAITS)

    decision = decide(outcomes, outcomes, Policy(), {"faithful": WEAK})

    assert decision.verdict == "pass"
    (stage,) = decision.advisory
    assert (stage.check, str(stage.rate)) == ("faithful", "0/1 (0.00–0.79)")
    assert str(stage.record) == "judge caught 2 of 8 defects, 1 false alarm in 8 sound answers"


def test_a_critical_check_that_only_advises_is_noted() -> None:
    outcomes = run_of({"tools": "P", "faithful": "f"}, stages=WAITS)

    decision = decide(outcomes, outcomes, Policy(critical=("faithful",)))

    assert decision.notes == ("faithful is critical but only advises, so that it decides nothing",)


# What is listed


def test_rates_cover_what_was_measured() -> None:
    before = run_of({"tools": "PPF", "label": "PFP"})
    after = run_of({"tools": "PPV", "label": "PFP"})

    decision = decide(before, after, Policy(min_pass_rate=0, max_unmeasured=1))

    shown = {pair.name: (str(pair.baseline)[:3], str(pair.candidate)[:3]) for pair in decision.rates}
    assert shown == {
        "all checks": ("4/6", "4/5"),
        "cases": ("1/3", "1/2"),  # c0 passes, c1 fails, c2 fails before and is unmeasured now
        "tools": ("2/3", "2/2"),
        "label": ("2/3", "2/3"),
    }


def test_shifts_of_the_first_failing_stage() -> None:
    stages = tuple(DeclaredStage(name=name, threshold=1, scorer=name) for name in ("tools", "label"))
    before = run_of({"label": "PFPFF", "tools": "PPPFP"}, stages=stages)
    after = run_of({"label": "FFPFF", "tools": "PFVFP"}, stages=stages)

    decision = decide(before, after, Policy(min_pass_rate=0))

    assert [(shift.case, shift.baseline, shift.candidate) for shift in decision.shifts] == [
        ("c0", None, "label"),
        ("c1", "label", "tools"),  # tools comes first, as declared
        ("c2", None, "tools: error (provider)"),
    ]


def test_cost_and_latency_of_both_sides_are_kept() -> None:
    before, after = RunUsage(calls=10, latency_ms=1000.0), RunUsage(calls=12, latency_ms=900.0)
    tests = run("P").tests

    decision = decide(Outcomes(eval_block(), tests, before), Outcomes(eval_block(), tests, after), Policy())

    assert (decision.baseline_usage, decision.candidate_usage) == (before, after)


def test_a_baseline_blind_in_places_is_noted() -> None:
    decision = decide(run("VP"), run("PP"), Policy())

    assert decision.notes == ("1 of the baseline's tests are unmeasured: no regression shows there",)


def test_names_that_match_nothing_are_refused() -> None:
    with pytest.raises(PolicyError, match="'tool' matches no test; did you mean 'tools'"):
        decide(run("P"), run("P"), Policy(critical=("tool",)))


def test_names_are_not_looked_up_in_an_empty_run() -> None:
    decision = decide(None, run("-"), Policy(critical=("tools",)))

    assert rules(decision) == ["baseline", "empty_run"]


@pytest.mark.slow
def test_the_time_of_a_decision_grows_no_faster_than_its_outcomes() -> None:
    def many(every: int) -> Outcomes:
        return Outcomes(
            eval_block(),
            tuple(
                CheckOutcome(
                    nodeid=f"toy::case-{n // 5}::check{n % 5}",
                    case=f"case-{n // 5}",
                    check=f"check{n % 5}",
                    outcome="passed" if n % every else "failed",
                )
                for n in range(100_000)
            ),
        )

    before, after = many(97), many(89)
    policy = Policy(critical=("check0", "case-1?::*"), protected_cases=("case-7*",))
    began = time.process_time()
    decision = decide(before, after, policy)

    # About 1.5 s of CPU here; comparing every outcome with every other would take hours.
    assert time.process_time() - began < 20
    # Multiples of 89 in 0 … 99,999 are 1,124, those of 97 · 89 = 8,633 among them 12, failed before as well.
    assert len(decision.regressed) == 1_112
