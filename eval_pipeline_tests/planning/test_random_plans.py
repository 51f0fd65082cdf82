"""A plan of all cells is what their run then does: random edits, with a plan and a run after each."""

from __future__ import annotations

import copy
import random

import pytest
import yaml

from eval_pipeline.carry_over.origins import row_origins
from eval_pipeline.evaluation import Evaluation
from eval_pipeline.planning.cell_plan import CellPlan
from eval_pipeline.planning.planned_rows import RowsPlanned
from eval_pipeline_tests.carry_over.shop import Grader, Shop
from eval_pipeline_tests.carry_over.test_random_edits import EDITS
from eval_pipeline_tests.planning.shops import plan_all


def write_wide(shop: Shop, chance: random.Random, step: int) -> None:
    """A second dataset: some of the cases, as they are or with other expectations, and one of its own."""
    cases = [copy.deepcopy(case) for case in shop.cases if chance.random() < 0.7]
    for case in cases:
        if chance.random() < 0.2:
            case["expected"] = {"says": chance.choice("34.!oN")}
    own = {"id": "own", "input": chance.choice(("price of fig", "hello", "page"))}
    fixtures = {"fixtures": "other"} if step and chance.random() < 0.3 else {}
    shop.files["data/shop/other/prices.yaml"] = f"pear: {chance.randint(1, 3)}\n"
    wide = {"version": 1, **fixtures, "cases": [*cases, own]}
    shop.files["data/shop/datasets/wide.yaml"] = yaml.safe_dump(wide)


def run(shop: Shop, plan: CellPlan) -> tuple[dict[str, int], dict[str, int], int]:
    """Where the traces and checks of a cell came from, and how many calls were made for them."""
    evaluation = Evaluation(
        run_id="r",
        data_root=shop.root / "data",
        warehouse_root=str(shop.root / "warehouse"),
        mode="new_episodes",
        connector=Grader(),  # type: ignore[arg-type]
    )
    cell = plan.cell
    evaluation.store_traces(cell)
    evaluation.store_scores(cell)
    report, _ = evaluation.store_report(cell)
    keys = {"suite": cell.suite, "dataset": cell.dataset, "candidate": cell.candidate}
    traces, checks = (evaluation.warehouse.read(name, **keys) for name in ("traces", "stage_scores"))  # type: ignore[arg-type]
    made = report.summary.totals.called + report.summary.totals.judge_called
    return row_origins(traces), row_origins(checks), made


def compare_rows(planned: RowsPlanned, made: dict[str, int], *, exactly: bool) -> None:
    own = planned.replayed + planned.called + planned.open
    assert sum(made.values()) == planned.carried_over + planned.planned_above + own
    # What is planned as carried over is; rows that wait for answers may turn out as earlier ones.
    assert made["rows_carried_over"] >= planned.carried_over + planned.planned_above
    if exactly:
        assert made["rows_replayed"] == planned.replayed


SEEDS = [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 12))]


@pytest.mark.parametrize("seed", SEEDS)
def test_a_plan_is_what_the_run_does(tmp_path, monkeypatch, seed):
    monkeypatch.setattr("sys.dont_write_bytecode", True)
    chance = random.Random(seed)
    shop = Shop(tmp_path)
    above = 0
    for step in range(4):
        for edit in chance.sample(EDITS, 2) if step else ():
            edit(shop, chance)
        write_wide(shop, chance, step)
        plans = plan_all(shop)
        waiting = False  # for answers, of this cell or of one before it
        for plan in plans:
            traces, checks, made = run(shop, plan)
            waiting |= plan.traces.need_answers or plan.checks.need_answers
            compare_rows(plan.traces, traces, exactly=not waiting)
            compare_rows(plan.checks, checks, exactly=not waiting)
            # Of one question each run and one each judged answer, no estimate is too low.
            assert sum(call.at_least for call in plan.calls) <= made <= sum(call.calls for call in plan.calls)
            above += plan.traces.planned_above
    assert above > 0
