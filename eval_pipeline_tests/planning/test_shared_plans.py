"""What the cells of one plan share is planned once: rows, questions, and what they cost."""

from __future__ import annotations

import pytest
import yaml

from eval_pipeline.carry_over.origins import row_origins
from eval_pipeline.evaluation import Evaluation
from eval_pipeline.planning.kept_plans import compare_with_plan, keep_plan
from eval_pipeline.planning.plan_text import plan_text, total_text
from eval_pipeline.planning.planned_rows import RowsPlanned
from eval_pipeline.suites import key_name
from eval_pipeline_tests.docs_suite import DocsSuite
from eval_pipeline_tests.planning.shops import evaluation_of, plan_all, plan_cells, recorded_shop
from eval_pipeline_tests.scripted import ScriptedConnector


@pytest.fixture
def shop(tmp_path, monkeypatch):
    monkeypatch.setattr("sys.dont_write_bytecode", True)
    return recorded_shop(tmp_path)


@pytest.fixture
def two_datasets(shop):
    """The shop's seven cases in a second dataset too, with one more; nothing of them is stored."""
    shop.cases.append({"id": "new", "input": "hi"})
    more = [*shop.cases, {"id": "only here", "input": "cheapest and price of pear"}]
    shop.files["data/shop/datasets/wide.yaml"] = yaml.safe_dump({"version": 1, "cases": more})
    shop.files["data/shop/prompts/v1.md"] = "Good day"
    shop.write()
    return shop


def test_what_two_datasets_share_is_planned_once(two_datasets):
    small, wide = plan_all(two_datasets)
    # Eight cases, seven of which ask a model with the prompt; then the same and one more.
    assert small.traces == RowsPlanned(replayed=1, called=7)
    # The run that broke off is never carried over, wherever it stands.
    assert wide.traces == RowsPlanned(planned_above=7, awaited=7, replayed=1, called=1)
    # `says` of three cases and `kind` of eight; one of them is of the run that broke off, as it was.
    assert small.checks == RowsPlanned(carried_over=1, open=10)
    assert wide.checks == RowsPlanned(carried_over=1, planned_above=10, awaited=10, open=1)
    assert [call.calls for call in small.calls] == [7, 7]
    assert [call.calls for call in wide.calls] == [1, 1]
    assert total_text([small, wide], "run").startswith("8 calls and up to 8 more that depend on the answers")
    assert "9: 7 carried over from what is planned above, 1 replayed, 1 to call" in plan_text(wide)


def test_the_run_of_two_datasets_does_what_was_planned_of_both(two_datasets):
    evaluation = evaluation_of(two_datasets)
    small, wide = plan_all(two_datasets)
    keep_plan(evaluation.warehouse, wide)
    two_datasets.carried("new_episodes")
    origins = evaluation.count_origins([small.cell, wide.cell])
    assert origins["traces"] == {
        "rows_carried_over": 7,
        "rows_replayed": 2,
        "rows_called": 8,
        "rows_failed": 0,
    }
    told = compare_with_plan(
        evaluation.warehouse, evaluation.build_report(wide.cell), two_datasets.recordings
    )
    assert told == "planned 1 to 2 calls beside those of the cells planned with it, made 2"


def test_replayed_rows_that_two_datasets_share_are_planned_once(two_datasets):
    two_datasets.carried("new_episodes")
    two_datasets.edit(two_datasets.system_file, "TOOLS", "# edited\nTOOLS")
    two_datasets.edit(two_datasets.scorers_file, "class Says", "# edited\nclass Says")
    small, wide = plan_all(two_datasets)
    made = two_datasets.carried()
    assert small.traces == RowsPlanned(replayed=8)
    assert wide.traces == RowsPlanned(planned_above=7, replayed=2)
    assert (small.checks, wide.checks) == (
        RowsPlanned(replayed=11),
        RowsPlanned(planned_above=11, replayed=1),
    )
    assert made.made_checks() == {"plain only here kind"}  # of the second dataset, which was run last


def test_a_page_changed_for_one_of_two_datasets_is_not_planned_as_shared(two_datasets):
    two_datasets.carried("new_episodes")
    two_datasets.edit(two_datasets.system_file, "TOOLS", "# edited\nTOOLS")
    two_datasets.files["data/shop/fixtures/prices.yaml"] += "quince: 9\n"
    small, wide = plan_all(two_datasets)
    assert small.traces.replayed == 8
    assert wide.traces.planned_above == 7


def test_a_row_that_a_third_dataset_shares_with_the_first_is_planned_once_whatever_the_second_holds(shop):
    shop.cases = [{"id": "pear", "input": "price of pear"}]
    more = [*shop.cases, {"id": "hello", "input": "hello"}]
    shop.files |= {
        "data/shop/other/prices.yaml": "pear: 5\n",
        "data/shop/datasets/tall.yaml": yaml.safe_dump(
            {"version": 1, "fixtures": "other", "cases": shop.cases}
        ),
        "data/shop/datasets/wide.yaml": yaml.safe_dump({"version": 1, "cases": more}),
    }
    shop.write()
    shop.carried("new_episodes")
    shop.edit(shop.system_file, "TOOLS", "# edited\nTOOLS")
    plans = {key_name(plan.cell.dataset): plan.traces for plan in plan_all(shop)}
    # The pear costs 5 in `tall`, so that its row there is another one.
    assert plans == {
        "small": RowsPlanned(replayed=1),
        "tall": RowsPlanned(replayed=1),
        "wide": RowsPlanned(planned_above=1, replayed=1),
    }
    made = shop.carried().traces["plain"]  # of `wide`, which is run last
    assert row_origins(made) == {
        "rows_carried_over": 1,
        "rows_replayed": 1,
        "rows_called": 0,
        "rows_failed": 0,
    }


def test_what_follows_on_a_shared_first_question_is_planned_as_what_may_be_asked(tmp_path):
    suite = DocsSuite(tmp_path)
    one = "    prompt: v1\n"
    more = "  k1:\n    model: openai:scripted\n    embedder: openai:scripted-embedder\n" + one
    suite.edit("suite.yaml", one, f"{one}    parameters: {{k: 3}}\n{more}    parameters: {{k: 1}}\n")
    connector = ScriptedConnector()

    def evaluation(mode="none"):
        return Evaluation("r", suite.data_root, str(tmp_path / "warehouse"), mode=mode, connector=connector)

    def run(cell):
        live, before = evaluation("new_episodes"), len(connector.chats)
        live.store_traces(cell)
        live.store_scores(cell)
        return live.store_report(cell)[0], len(connector.chats) - before

    for cell in evaluation().suite("docs").cells:
        run(cell)
    suite.edit("prompts/v1.md", "three", "two")
    three, single = plan_cells(evaluation(), "docs")
    # Ten first questions, which the second candidate asks too; then nine runs go on with what they found.
    (_, chats) = three.calls
    assert (chats.at_least, chats.calls) == (10, 19)
    assert (three.with_others, single.with_others) == (False, True)
    assert single.traces == RowsPlanned(open=10)
    _, chats = single.calls
    assert (chats.at_least, chats.calls) == (0, 9)
    for plan in (three, single):
        keep_plan(evaluation().warehouse, plan)
    run(three.cell)
    report, made = run(single.cell)
    assert 0 < made <= 9
    told = compare_with_plan(evaluation().warehouse, report, suite.folder / "recordings")
    assert told is not None
    assert told.endswith(f" calls beside those of the cells planned with it, made {made}")
    # The searches, of which nine may be others, and the chats that may follow on them.
    assert told.startswith("planned 0 to ")
