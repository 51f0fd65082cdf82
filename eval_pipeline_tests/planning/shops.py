"""A recorded shop, and plans of it, for the tests of plans."""

from __future__ import annotations

from pathlib import Path

from eval_pipeline.evaluation import Evaluation
from eval_pipeline.planning.cell_plan import CellPlan, CellPlanner
from eval_pipeline.planning.planned_rows import PlannedAbove
from eval_pipeline.planning.typical_calls import TypicalCalls
from eval_pipeline_tests.carry_over.shop import Shop


def recorded_shop(folder: Path) -> Shop:
    """One candidate, recorded and stored."""
    shop = Shop(folder)
    del shop.suite["candidates"]["loud"]
    shop.write()
    shop.carried("new_episodes")
    return shop


def evaluation_of(shop: Shop) -> Evaluation:
    return Evaluation(run_id="p", data_root=shop.root / "data", warehouse_root=str(shop.root / "warehouse"))


def plan_cells(evaluation: Evaluation, suite_name: str) -> list[CellPlan]:
    """The plans of all cells, each after those before it."""
    suite = evaluation.suite(suite_name)
    typical, above = TypicalCalls.of(suite.recordings), PlannedAbove()
    return [CellPlanner(evaluation, suite, cell, typical, above).plan() for cell in suite.cells]


def plan_all(shop: Shop) -> list[CellPlan]:
    shop.write()
    return plan_cells(evaluation_of(shop), "shop")
