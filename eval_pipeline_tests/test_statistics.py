import math

import pytest

from eval_pipeline.statistics import Rate, cohens_kappa, mcnemar_exact, wilson_interval


@pytest.mark.parametrize(
    ("successes", "n", "low", "high"),
    [
        # z² = 3.8415. 9/10: centre (0.9 + 0.19207) / 1.38415 = 0.78899;
        # half 1.95996 · √(0.009 + 0.0096037) / 1.38415 = 0.19314.
        (9, 10, 0.59585, 0.98213),
        # 10/10: 10 / (10 + 3.8415); the upper bound is 1 itself.
        (10, 10, 0.72247, 1.0),
        # 0/10: the mirror image, 3.8415 / 13.8415.
        (0, 10, 0.0, 0.27753),
        # 5/10: centre 0.5; half 1.95996 · √(0.025 + 0.0096037) / 1.38415 = 0.26341.
        (5, 10, 0.23659, 0.76341),
        # 1/1: 1 / 4.8415.
        (1, 1, 0.20655, 1.0),
    ],
)
def test_wilson_interval_by_hand(successes: int, n: int, low: float, high: float) -> None:
    assert wilson_interval(successes, n) == pytest.approx((low, high), abs=1e-5)


@pytest.mark.parametrize("n", [1, 3, 10, 999])
def test_wilson_interval_ends_exactly_at_0_and_1(n: int) -> None:
    assert wilson_interval(0, n)[0] == 0.0
    assert wilson_interval(n, n)[1] == 1.0


def test_nothing_counted_leaves_everything_possible() -> None:
    assert wilson_interval(0, 0) == (0.0, 1.0)


@pytest.mark.parametrize(("successes", "n"), [(-1, 3), (4, 3), (0, -1)])
def test_impossible_counts_are_refused(successes: int, n: int) -> None:
    with pytest.raises(ValueError, match="is not a count of successes"):
        wilson_interval(successes, n)
    with pytest.raises(ValueError, match="is not a count of successes"):
        Rate(successes, n)


@pytest.mark.parametrize(
    ("worse", "better", "p"),
    [
        (0, 0, 1.0),
        (1, 0, 1.0),  # 2 · 1/2
        (5, 0, 0.0625),  # 2 · 1/32
        (0, 6, 0.03125),  # 2 · 1/64
        (3, 1, 0.625),  # 2 · (1 + 4)/16
        (2, 2, 1.0),  # 2 · (1 + 4 + 6)/16 = 1.375, cut to 1
        (8, 2, 0.109375),  # 2 · (1 + 10 + 45)/1024
    ],
)
def test_mcnemar_by_hand(worse: int, better: int, p: float) -> None:
    assert mcnemar_exact(worse, better) == p


def test_mcnemar_of_many_pairs_agrees_with_the_normal_approximation() -> None:
    # n = 100,000, fewer = 49,500: with continuity, z = (500 - 0.5) / √25,000 = 3.1591;
    # two-sided normal tail erfc(3.1591 / √2) = 0.001583.
    assert mcnemar_exact(50_500, 49_500) == pytest.approx(math.erfc(3.1591 / math.sqrt(2)), rel=1e-3)


def test_mcnemar_refuses_negative_counts() -> None:
    with pytest.raises(ValueError, match="-1 worse"):
        mcnemar_exact(-1, 2)


def test_a_rate_shows_its_count_and_interval() -> None:
    assert str(Rate(9, 10)) == "9/10 (0.60–0.98)"
    assert Rate(9, 10).value == 0.9


def test_repeats_of_a_case_narrow_no_interval() -> None:
    # As 9 of 10: thirty runs of ten cases tell as much as ten, where thirty cases would tell more.
    assert Rate(27, 30, cases=10).interval == Rate(9, 10).interval
    assert str(Rate(27, 30, cases=10)) == "27/30 (0.60–0.98)"
    assert Rate(30, 30, cases=10).interval[1] == 1.0
    assert Rate(0, 0, cases=10).interval == (0.0, 1.0)


def test_a_rate_of_nothing_has_no_value() -> None:
    assert Rate(0, 0).value is None
    assert str(Rate(0, 0)) == "0/0"


@pytest.mark.parametrize(
    ("pairs", "kappa"),
    [
        # Rows: truth yes/no; columns: said yes/no. 3 1 / 1 3: p_o 6/8; p_e (4·4 + 4·4)/64 = 1/2; 1/4 ÷ 1/2.
        ([(True, True)] * 3 + [(True, False)] + [(False, True)] + [(False, False)] * 3, 0.5),
        ([(True, True)] * 2 + [(False, False)] * 2, 1.0),
        # Who always says no agrees as often as chance: p_o 2/4, p_e (2·0 + 2·4)/16 = 1/2.
        ([(True, False)] * 2 + [(False, False)] * 2, 0.0),
        # Always the opposite: p_o 0, p_e 1/2.
        ([(True, False), (False, True)], -1.0),
    ],
)
def test_kappa_by_hand(pairs, kappa) -> None:
    assert cohens_kappa(pairs) == kappa


@pytest.mark.parametrize("pairs", [[], [(True, True), (True, False)], [(False, False)]])
def test_kappa_of_one_class_is_undefined(pairs) -> None:
    assert cohens_kappa(pairs) is None
