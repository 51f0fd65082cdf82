"""A plan says what the next run carries over, replays and calls, and why; and the run then does that."""

from __future__ import annotations

import pytest

from eval_pipeline.evaluation import Evaluation
from eval_pipeline.planning.cell_plan import CellPlan, CellPlanner, RowsPlanned
from eval_pipeline.planning.kept_plans import compare_with_plan, keep_plan
from eval_pipeline.planning.plan_text import plan_text, total_text
from eval_pipeline.planning.typical_calls import TypicalCalls
from eval_pipeline_tests.carry_over.shop import Shop


@pytest.fixture
def shop(tmp_path, monkeypatch):
    monkeypatch.setattr("sys.dont_write_bytecode", True)
    shop = Shop(tmp_path)
    del shop.suite["candidates"]["loud"]
    shop.write()
    shop.carried("new_episodes")
    return shop


def evaluation_of(shop: Shop) -> Evaluation:
    return Evaluation(run_id="p", data_root=shop.root / "data", warehouse_root=str(shop.root / "warehouse"))


def plan(shop: Shop) -> CellPlan:
    shop.write()
    evaluation = evaluation_of(shop)
    suite = evaluation.suite("shop")
    (cell,) = suite.cells
    return CellPlanner(evaluation, suite, cell, TypicalCalls.of(suite.recordings)).plan()


def test_an_unchanged_suite_needs_no_call(shop):
    found = plan(shop)
    # Seven traces, one of which an exception ended; ten checks: `says` of three cases, `kind` of seven.
    assert found.traces == RowsPlanned(carried_over=6, replayed=1)
    assert found.checks == RowsPlanned(carried_over=10)
    assert found.reasons == {"it ended in an exception or a provider's fault (no call)": 1}
    assert found.calls == ()
    assert total_text([found], "eval-pipeline run shop") == "no call is needed; run: eval-pipeline run shop"


def test_a_new_prompt_is_called_for_every_case_that_asks_with_it_and_says_so(shop):
    shop.edit("data/shop/prompts/v1.md", "Hello", "Good day")
    found = plan(shop)
    assert found.traces == RowsPlanned(replayed=1, called=6)
    # The run that broke off is as it was, and so is its check; the nine others wait for answers.
    assert found.checks == RowsPlanned(carried_over=1, open=9)
    reason, count = next(iter(found.reasons.items()))
    assert reason.startswith("prompt v1 is new (")
    assert count == 6
    agent, judge = found.calls
    assert (agent.model, agent.calls, agent.at_most) == ("openai:shop", 6, False)
    # One question of the judge for each of the six answers, if it changes.
    assert (judge.model, judge.calls, judge.at_most) == ("openai:judge", 6, True)
    shop.carried("new_episodes")
    assert plan(shop).calls == ()


def test_an_edited_record_is_named_though_it_costs_no_call_where_nothing_asks_with_it(shop):
    shop.edit("data/shop/fixtures/prices.yaml", "pear: 4", "pear: 4\nquince: 9")
    found = plan(shop)
    assert (found.traces.called, found.calls) == (0, ())
    assert found.reasons["fixture prices changed (no call)"] == 6


def test_an_edited_system_is_replayed(shop):
    shop.edit(shop.system_file, "TOOLS", "# edited\nTOOLS")
    found = plan(shop)
    assert found.traces == RowsPlanned(replayed=7)
    assert found.reasons == {
        "code, an installed package or the model's server changed (no call)": 6,
        "it ended in an exception or a provider's fault (no call)": 1,
    }


def test_another_judge_is_asked_about_every_answer(shop):
    shop.suite["judge"]["settings"]["seed"] = 2
    found = plan(shop)
    assert found.checks == RowsPlanned(carried_over=3, replayed=1, called=6)
    assert [(call.role, call.calls, call.at_most) for call in found.calls] == [("judge", 6, False)]
    assert "kind: parameters changed" in plan_text(found)


def test_after_the_run_the_plan_stands_beside_what_was_called_once(shop):
    shop.cases.append({"id": "new", "input": "hi"})
    found = plan(shop)
    evaluation = evaluation_of(shop)
    keep_plan(evaluation.warehouse, found)
    shop.carried("new_episodes")
    report = evaluation.build_report(found.cell)
    # One answer, and at most one verdict on it; it turns out as that of `hello`, and has its verdict.
    assert compare_with_plan(evaluation.warehouse, report, shop.recordings) == "planned 1 to 2 calls, made 1"
    assert compare_with_plan(evaluation.warehouse, report, shop.recordings) is None


def test_what_is_planned_is_what_is_made(shop):
    shop.cases[0]["input"] = "price of fig"
    shop.cases[1]["expected"] = {"says": "5"}
    planned = plan(shop)
    made = shop.carried("new_episodes")
    assert planned.traces.called == sum(made.traces["plain"]["called"].to_pylist()) == 1
    assert planned.traces.carried_over == sum(made.traces["plain"]["carried_over"].to_pylist())
