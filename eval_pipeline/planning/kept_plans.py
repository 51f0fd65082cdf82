"""The last plan of a cell, kept until the next run of it shows what was planned beside what was called."""

from __future__ import annotations

import json
from typing import Any

from eval_pipeline.carry_over.traces import cell_keys
from eval_pipeline.errors import EvalError
from eval_pipeline.planning.cell_plan import CellPlan
from eval_pipeline.report.stage_report import StageReport
from eval_pipeline.suites import Cell
from eval_pipeline.warehouse.store import Warehouse

_FILE = "plan.json"


def keep_plan(warehouse: Warehouse, plan: CellPlan) -> None:
    """Store the numbers of a plan beside the cell's report."""
    calls = {False: 0.0, True: 0.0}
    for estimate in plan.calls:
        calls[estimate.at_most] += estimate.calls
    _write(warehouse, plan.cell, {"calls": round(calls[False]), "at_most": round(sum(calls.values()))})


def compare_with_plan(warehouse: Warehouse, report: StageReport) -> str | None:
    """`planned about 12 calls; made 11`, once after a plan; None where none was made."""
    try:
        kept = json.loads(warehouse.read_text("stage_report", _FILE, **cell_keys(report.cell)))
    except (EvalError, ValueError):
        return None
    if kept is None:
        return None
    _write(warehouse, report.cell, None)
    made = sum(row.trace.usage.called for row in report.rows)
    made += sum(check.called for row in report.rows for check in row.checks.values())
    planned = f"about {kept['calls']:,}"
    if kept["at_most"] > kept["calls"]:
        planned += f" to {kept['at_most']:,}"
    return f"planned {planned} calls, made {made:,}"


def _write(warehouse: Warehouse, cell: Cell, content: Any) -> None:
    warehouse.write_text("stage_report", _FILE, json.dumps(content) + "\n", **cell_keys(cell))
