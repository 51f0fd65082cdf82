"""The prompt before is told where it can be read, and its absence breaks nothing."""

from __future__ import annotations

from eval_pipeline.comparing.earlier_prompt import earlier_prompt
from eval_pipeline.suites import Cell
from eval_pipeline.warehouse.store import Warehouse

CELL = Cell("toy", "calm@1", "small@1")


def test_of_an_empty_and_of_a_broken_warehouse_nothing_is_told(tmp_path):
    warehouse = Warehouse(str(tmp_path))
    assert earlier_prompt(warehouse, CELL) == frozenset()
    warehouse.catalogue_path.write_text("no database")
    assert earlier_prompt(warehouse, CELL) == frozenset()
