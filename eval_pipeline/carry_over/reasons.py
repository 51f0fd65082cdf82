"""Why a trace is made again although nothing is called for it: what differs from its stored row."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from eval_pipeline.carry_over.inputs import Present
from eval_pipeline.carry_over.stored_rows import SharedCalls, partitions_to_search, read_shared
from eval_pipeline.carry_over.traces import CarriedTraces, cell_keys
from eval_pipeline.cases import Run
from eval_pipeline.errors import EvalError
from eval_pipeline.suites import Cell
from eval_pipeline.warehouse.row_inputs import used_lines
from eval_pipeline.warehouse.store import Keys, Warehouse

NEW = "no result of the candidate as it is now is stored for the case"
_CASE = "the case changed"
_CODE = "code, an installed package or the model's server changed"
_ENDED = "it ended in an exception or a provider's fault"


@dataclass(frozen=True)
class _Stored:
    known: str | None
    used: str | None
    shared: SharedCalls


class StoredInputs:
    """The inputs of a cell's traces as they were stored last, to say what became of them."""

    def __init__(self, warehouse: Warehouse, cell: Cell, carried: CarriedTraces, present: Present) -> None:
        self._carried = carried
        self._present = present
        self._rows: dict[tuple[str, int], _Stored] = {}
        for keys in partitions_to_search(warehouse, "traces", cell_keys(cell)):
            self._add(warehouse, keys)
            if carried.known.keys() <= self._rows.keys():
                break
        # Where any row has what is known of it now, the code is the same.
        self._same_code = any(row.known == carried.known.get(run) for run, row in self._rows.items())

    def _add(self, warehouse: Warehouse, keys: Keys) -> None:
        names = ("case_id", "repeat", "inputs_known", "inputs_used")
        try:
            table = warehouse.read("traces", columns=names, **keys)
        except EvalError:
            return
        shared = read_shared(warehouse, "traces", keys)
        columns = (table[name].to_pylist() for name in names)
        for case_id, repeat, known, used in zip(*columns, strict=True):
            self._rows.setdefault((case_id, repeat), _Stored(known, used, shared))

    def why_again(self, run: Run) -> str:
        """What differs from the stored row of a run that is not carried over."""
        row = self._rows.get(run.key)
        if row is None:
            return NEW
        if row.known is None:
            return _ENDED
        if row.known != self._carried.known[run.key]:
            return _CASE if self._same_code else _CODE
        changed = [line for line in used_lines(row.used) if not self._present.agrees([line], row.shared)]
        return ", ".join(dict.fromkeys(f"{_named(line)} changed" for line in changed)) or _CODE


_SHARED: Mapping[str, str] = {"call": "a recorded response", "shared": "a page's vector"}


def _named(line: str) -> str:
    """What a line of a row's inputs is about, in words."""
    kind, _, rest = line.partition(" ")
    if kind != "read":
        return _SHARED.get(kind, kind)
    name = rest.partition(" ")[2]
    what, _, path = name.partition(" ")
    if not path:
        return {"documents": "a page", "fixtures": "a fixture"}.get(what, what)
    return f"fixture {' '.join(json.loads(path))}"
