"""A plan says what the next run carries over, replays and calls, and why; and the run then does that."""

from __future__ import annotations

from pathlib import Path

import pytest

from eval_pipeline.evaluation import Evaluation
from eval_pipeline.planning.cell_plan import CellPlan, CellPlanner
from eval_pipeline.planning.kept_plans import compare_with_plan, keep_plan
from eval_pipeline.planning.plan_text import plan_text, total_text
from eval_pipeline.planning.planned_rows import RowsPlanned
from eval_pipeline.planning.typical_calls import TypicalCalls
from eval_pipeline.suites import key_name
from eval_pipeline_tests.carry_over.shop import Shop
from eval_pipeline_tests.planning.shops import evaluation_of, plan_all, recorded_shop

DATA = Path(__file__).parents[2] / "data"


@pytest.fixture
def shop(tmp_path, monkeypatch):
    monkeypatch.setattr("sys.dont_write_bytecode", True)
    return recorded_shop(tmp_path)


def plan(shop: Shop) -> CellPlan:
    (found,) = plan_all(shop)
    return found


def test_an_unchanged_suite_needs_no_call(shop):
    found = plan(shop)
    # Seven traces, one of which an exception ended; ten checks: `says` of three cases, `kind` of seven.
    assert found.traces == RowsPlanned(carried_over=6, replayed=1)
    assert found.checks == RowsPlanned(carried_over=10)
    assert found.trace_reasons == {"it ended in an exception or a provider's fault (no call)": 1}
    assert found.calls == ()
    assert total_text([found], "eval-pipeline run shop") == "no call is needed; run: eval-pipeline run shop"


def test_a_new_prompt_is_called_for_every_case_that_asks_with_it_and_says_so(shop):
    shop.edit("data/shop/prompts/v1.md", "Hello", "Good day")
    found = plan(shop)
    assert found.traces == RowsPlanned(replayed=1, called=6)
    # The run that broke off is as it was, and so is its check; the nine others wait for answers.
    assert found.checks == RowsPlanned(carried_over=1, open=9)
    reason, count = next(iter(found.trace_reasons.items()))
    assert reason.startswith("prompt v1 changed (")
    assert count == 6
    agent, judge = found.calls
    assert (agent.model, agent.calls, agent.at_most) == ("openai:shop", 6, False)
    # One question of the judge for each of the six answers, if it changes.
    assert (judge.model, judge.calls, judge.at_most) == ("openai:judge", 6, True)
    shop.carried("new_episodes")
    assert plan(shop).calls == ()


def reasons_of(shop: Shop, candidate: str) -> list[str]:
    (found,) = [plan for plan in plan_all(shop) if key_name(plan.cell.candidate) == candidate]
    return [reason for reason in found.trace_reasons if reason.startswith("prompt")]


def test_an_edited_prompt_was_another_one_before_and_not_what_somebody_else_asks_with(shop):
    shop.files["data/shop/prompts/v2.md"] = "Good morning"
    shop.suite["candidates"]["other"] = {"model": "openai:shop", "prompt": "v2"}
    shop.write()
    shop.carried("new_episodes")
    shop.edit("data/shop/prompts/v2.md", "morning", "evening")
    # `printf '"Good morning"' | sha256sum`, and likewise with evening.
    assert reasons_of(shop, "other") == ["prompt v2 changed (1f93c750bb1b → 4cafd746dc17)"]
    shop.edit("data/shop/prompts/v2.md", "evening", "morning")
    shop.files["data/shop/prompts/v3.md"] = "Good night"
    shop.suite["candidates"]["third"] = {"model": "openai:shop", "prompt": "v3"}
    assert reasons_of(shop, "third") == ["prompt v3 is new"]


def test_a_model_beside_others_is_not_told_to_have_changed_from_one_of_them(tmp_path):
    evaluation = Evaluation("p", DATA, str(tmp_path / "warehouse"))
    suite = evaluation.suite("issue_triage")
    (cell,) = suite.select_cells("gemma", "triage-v1")
    found = CellPlanner(evaluation, suite, cell, TypicalCalls.of(suite.recordings)).plan()
    assert found.trace_reasons == {"ollama:gemma4:e2b is not recorded yet": 12}


def test_an_edited_record_is_named_though_it_costs_no_call_where_nothing_asks_with_it(shop):
    shop.edit("data/shop/fixtures/prices.yaml", "pear: 4", "pear: 4\nquince: 9")
    found = plan(shop)
    assert (found.traces.called, found.calls) == (0, ())
    assert found.trace_reasons["fixture prices changed (no call)"] == 6


def test_an_edited_system_is_replayed(shop):
    shop.edit(shop.system_file, "TOOLS", "# edited\nTOOLS")
    found = plan(shop)
    assert found.traces == RowsPlanned(replayed=7)
    assert found.trace_reasons == {
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
