"""Sums over the rows of a report hold whatever a scorer tells."""

from __future__ import annotations

import pytest

from eval_pipeline.report.summing_up import StageTally
from eval_pipeline.scores import CheckResult, Score


@pytest.mark.parametrize("number", [10**400, -(10**400), 1e308, -1e308])
def test_a_detail_too_large_to_be_added_up_is_left_out(number):
    tally = StageTally()
    for case_id, told in (("a", 3), ("b", number), ("c", number)):
        score = Score(1.0, "fine", details={"length": told})
        tally.add(CheckResult(case_id, 0, "words", "passed", True, 1.0, "fine", score))
    tally.shorten()
    assert (tally.numbers["length"].numbers.value, tally.numbers["length"].numbers.count) == (3.0, 1)
