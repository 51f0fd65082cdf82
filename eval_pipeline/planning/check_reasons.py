"""Why a check of an unchanged trace is made again although nothing is called for it."""

from __future__ import annotations

from eval_pipeline.carry_over.stored_rows import partitions_to_search
from eval_pipeline.carry_over.traces import cell_keys
from eval_pipeline.cases import Case
from eval_pipeline.errors import EvalError
from eval_pipeline.judge_runs import Task
from eval_pipeline.report.key import report_key
from eval_pipeline.report.stored_key import StoredKey, read_key
from eval_pipeline.suites import Cell, Suite, key_name
from eval_pipeline.warehouse.store import Keys, Warehouse
from eval_pipeline.warehouse.suite_rows import cases_from

_CODE = "the scorer's code, an installed package or what a judge said changed"


class StoredChecks:
    """The checks of a cell as they were stored last, under this dataset or an earlier one of its name."""

    def __init__(self, warehouse: Warehouse, suite: Suite, cell: Cell) -> None:
        self._now = StoredKey.model_validate(report_key(suite, cell))
        self._before: StoredKey | None = None
        self._outcomes: dict[tuple[str, int, str], str] = {}
        self._cases: dict[str, Case] = {}
        for keys in partitions_to_search(warehouse, "stage_report", cell_keys(cell)):
            if self._is_alike(keys, cell) and self._read(warehouse, keys):
                break

    def _is_alike(self, keys: Keys, cell: Cell) -> bool:
        names = key_name(keys.get("candidate") or ""), key_name(keys.get("dataset") or "")
        return names == (key_name(cell.candidate), key_name(cell.dataset))

    def _read(self, warehouse: Warehouse, keys: Keys) -> bool:
        try:
            before = StoredKey.model_validate(read_key(warehouse, keys))
            names = ("case_id", "repeat", "stage", "outcome")
            columns = warehouse.read("stage_scores", columns=names, **keys)
            cases = cases_from(warehouse.read("cases", suite=keys["suite"], dataset=keys["dataset"]))
        except (EvalError, ValueError):
            return False
        self._before = before
        for case_id, repeat, stage, outcome in zip(
            *(columns[name].to_pylist() for name in names), strict=True
        ):
            self._outcomes.setdefault((case_id, repeat, stage), outcome)
        self._cases = {case.id: case for case in cases}
        return True

    def why_again(self, task: Task) -> str:
        """What differs from the stored check of a trace that is as it was."""
        stage, case = task.stage.name, task.case
        if self._before is None:
            return f"no report is stored to compare stage {stage} with"
        outcome = self._outcomes.get(task.place)
        if outcome is None:
            return f"stage {stage} is new for the case"
        if outcome == "not_measured":
            return f"stage {stage} was not measured"
        before = self._cases.get(case.id)
        if before is not None and (before.reference, before.expected) != (
            case.reference,
            dict(case.expected),
        ):
            return "what the case expects changed"
        if self._before.stage(stage) != self._now.stage(stage):
            return f"stage {stage} is declared differently"
        if task.stage.scorer.judged and self._before.judge_id != self._now.judge_id:
            return f"stage {stage} has another judge"
        return f"stage {stage}: {_CODE}"
