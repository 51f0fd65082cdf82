"""What a judge's calibration comes to, worked out by hand."""

from __future__ import annotations

import pytest

from eval_pipeline.calibration import CalibrationCase, CalibrationScore, CalibrationSet, Minimums
from eval_pipeline.calibration_summary import calibration_numbers, summarise_calibration


def said(case_id: str, expected: str, *scores: float | None, metric: str = "faithfulness"):
    """A case's scores in each repeat, against the threshold 0.7; None is a repeat without a score."""
    return [
        CalibrationScore(
            case_id=case_id,
            metric=metric,
            expected=expected,  # type: ignore[arg-type]
            judge_repeat=repeat,
            outcome="error" if score is None else "passed" if score >= 0.7 else "failed",
            threshold=0.7,
            score=score,
            reason="",
        )
        for repeat, score in enumerate(scores)
    ]


def found(*cases, minimums: Minimums | None = None):
    minimums = minimums or Minimums(cases=2, caught=0.5, false_alarms=0.5)
    return summarise_calibration([score for case in cases for score in case], minimums)["faithfulness"]


SCORES = (
    said("a", "defect", 0.0, 0.5, 0.2),  # caught: below 0.7 each time
    said("b", "defect", 0.0, 1.0, 0.0),  # missed: one repeat let it pass; it flips
    said("c", "sound", 1.0, 1.0, 0.7),  # sound: 0.7 passes
    said("d", "sound", 1.0, 0.6, 1.0),  # a false alarm: one repeat flags it; it flips
)


def test_a_defect_is_caught_by_every_repeat_and_a_false_alarm_needs_one():
    record = found(*SCORES).record
    assert (record.defects, record.caught, record.sound, record.false_alarms) == (2, 1, 2, 1)
    assert found(*SCORES).missed == 1
    assert str(record) == "judge caught 1 of 2 defects, 1 false alarm in 2 sound answers"


def test_flips_are_cases_whose_repeats_disagree():
    assert found(*SCORES).flips == 2


def test_kappa_is_over_all_repeats():
    # Defect rows flagged 5 of 6, sound rows flagged 1 of 6: p_o = (5 + 5)/12, p_e = (6·6 + 6·6)/144 = 1/2.
    assert found(*SCORES).kappa == pytest.approx((10 / 12 - 0.5) / 0.5)


def test_kappa_of_defects_alone_is_undefined_and_the_judge_not_calibrated():
    alone = found(SCORES[0], SCORES[0])
    assert alone.kappa is None
    assert not alone.record.calibrated


def test_a_case_with_a_repeat_that_could_not_be_scored_counts_in_nothing():
    metric = found(*SCORES, said("e", "defect", 0.0, None, 0.0), said("f", "sound", None, None, None))
    assert (metric.record.defects, metric.record.sound, metric.unmeasured) == (2, 2, 2)
    assert metric.flips == 2


@pytest.mark.parametrize(
    ("minimums", "lacking"),
    [
        (Minimums(cases=2, caught=0.5, false_alarms=0.5), ()),
        (
            Minimums(cases=3, caught=0.5, false_alarms=0.5),
            ("scored 2 defects and 2 sound answers, needs 3 of each",),
        ),
        (Minimums(cases=2, caught=0.51, false_alarms=0.5), ("caught 1 of 2 defects, needs 51%",)),
        (
            Minimums(cases=2, caught=0.5, false_alarms=0.49),
            ("false alarms in 1 of 2 sound answers, allows 49%",),
        ),
    ],
)
def test_calibrated_means_that_every_minimum_is_met(minimums, lacking):
    metric = found(*SCORES, minimums=minimums)
    assert metric.lacking == lacking
    assert metric.record.calibrated is not bool(lacking)


def test_shares_are_compared_as_written():
    # 7 of 10 are 0.7; 0.7 times 10 is a little more than 7.
    cases = [said(f"d{n}", "defect", 0.0 if n < 7 else 1.0) for n in range(10)]
    cases += [said(f"s{n}", "sound", 1.0) for n in range(10)]
    assert found(*cases, minimums=Minimums(cases=4, caught=0.7, false_alarms=0.0)).record.calibrated


def test_a_judge_that_always_passes_is_never_calibrated():
    cases = [said(f"d{n}", "defect", 1.0) for n in range(8)] + [said(f"s{n}", "sound", 1.0) for n in range(8)]
    metric = found(*cases, minimums=Minimums(cases=1, caught=0.0001, false_alarms=0.9))
    assert metric.kappa == 0.0
    assert not metric.record.calibrated


def test_a_judge_that_always_flags_is_stopped_by_its_false_alarms():
    cases = [said(f"d{n}", "defect", 0.0) for n in range(4)] + [said(f"s{n}", "sound", 0.0) for n in range(4)]
    assert found(*cases, minimums=Minimums()).lacking == ("false alarms in 4 of 4 sound answers, allows 25%",)


def test_the_hash_of_the_cases_forgets_their_order_and_the_minimums():
    first = CalibrationCase("a", ("faithfulness",), "sound", None, "q", "a", ("c",))
    second = CalibrationCase("b", ("faithfulness",), "defect", "wrong", "q", "a", ("c",))
    one = CalibrationSet((first, second))
    assert one.sha == CalibrationSet((second, first), Minimums(cases=1)).sha
    assert one.sha != CalibrationSet((first,)).sha


def test_the_numbers_to_plot_are_named_by_metric():
    numbers = calibration_numbers(
        summarise_calibration(said("a", "defect", 0.0, metric="faithfulness (plain)"), Minimums())
    )
    assert numbers == {
        "faithfulness_plain_defects": 1,
        "faithfulness_plain_caught": 1,
        "faithfulness_plain_sound": 0,
        "faithfulness_plain_false_alarms": 0,
        "faithfulness_plain_flips": 0,
    }
