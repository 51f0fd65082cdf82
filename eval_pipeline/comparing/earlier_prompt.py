"""What a candidate was asked with when it was stored last, under another key than now."""

from __future__ import annotations

from eval_pipeline.comparing.stored_keys import stored_cells
from eval_pipeline.errors import EvalError
from eval_pipeline.suites import Cell, key_name
from eval_pipeline.warehouse.store import Warehouse


def earlier_prompt(warehouse: Warehouse, cell: Cell) -> frozenset[str]:
    """12 hash digits of the prompt that a candidate of this name was stored with before.

    Empty where nothing is stored or can be read: who asks is about to say why a call is missing.
    """
    try:
        found = (stored.cell.candidate for stored in stored_cells(warehouse, cell.suite))
        same = (key for key in found if key_name(key) == key_name(cell.candidate) and key != cell.candidate)
        if (before := next(same, None)) is None:
            return frozenset()
        shas = warehouse.read("prompts", suite=cell.suite, candidate=before)["prompt_sha"].to_pylist()
    except EvalError:
        return frozenset()
    return frozenset(sha[:12] for sha in shas)
