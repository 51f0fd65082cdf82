"""A call that several stages of a trace share counts for the first of them, whatever was carried over."""

from __future__ import annotations

from eval_pipeline.carry_over.shared_counts import count_once
from eval_pipeline.scores import CheckResult
from eval_pipeline.warehouse.row_inputs import RowInputs
from eval_pipeline.warehouse.score_rows import scores_table

ONE, OTHER = RowInputs("a", ("call one 12",)), RowInputs("b", ("call other 34",))


def check(stage: str, *, called: int = 0) -> CheckResult:
    return CheckResult("c", 0, stage, "passed", True, 1.0, "so", calls=1, called=called, tokens=50, cost=0.2)


def counts(checks, inputs, used_by=None):
    table = count_once(
        scores_table(checks, {("c", 0, stage): found for stage, found in inputs.items()}), used_by or {}
    )
    names = ("stage", "calls", "called", "tokens", "cost", "own_calls")
    return [tuple(row[name] for name in names) for row in table.to_pylist()]


def test_the_second_of_two_stages_that_share_a_call_counts_none():
    found = counts([check("first", called=1), check("second", called=1)], {"first": ONE, "second": ONE})
    assert found == [("first", 1, 1, 50, 0.2, 1), ("second", 0, 0, 0, None, 1)]


def test_a_check_that_shares_no_more_counts_again_what_it_took():
    found = counts([check("first"), check("second")], {"first": OTHER, "second": ONE})
    assert found == [("first", 1, 0, 50, 0.2, 1), ("second", 1, 0, 50, 0.2, 1)]


def test_a_new_check_that_is_never_carried_over_shares_by_the_calls_it_used():
    used_by = {("c", 0, "first"): frozenset({"one"})}
    found = counts([check("first"), check("second")], {"second": ONE}, used_by)
    assert found == [("first", 1, 0, 50, 0.2, 1), ("second", 0, 0, 0, None, 1)]
