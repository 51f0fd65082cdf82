"""What a candidate was asked with when it was stored last, under another key than now."""

from __future__ import annotations

from eval_pipeline.comparing.stored_keys import stored_cells
from eval_pipeline.errors import EvalError
from eval_pipeline.suites import Cell, key_name
from eval_pipeline.warehouse.store import Warehouse


def earlier_prompt(warehouse: Warehouse, cell: Cell) -> frozenset[str]:
    """12 hash digits of the prompt that a candidate of this name was stored with before; else none."""
    name = key_name(cell.candidate)
    for found in stored_cells(warehouse, cell.suite):
        candidate = found.cell.candidate
        if candidate == cell.candidate or key_name(candidate) != name:
            continue
        try:
            shas = warehouse.read("prompts", suite=cell.suite, candidate=candidate)["prompt_sha"].to_pylist()
        except EvalError:
            return frozenset()
        return frozenset(sha[:12] for sha in shas)
    return frozenset()
