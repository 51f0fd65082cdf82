"""The last plan of a cell, kept until the next run of it shows what was planned beside what was called."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from eval_pipeline.carry_over.traces import cell_keys
from eval_pipeline.errors import EvalError
from eval_pipeline.planning.cell_plan import CellPlan
from eval_pipeline.recordings import read_digests
from eval_pipeline.report.stage_report import StageReport
from eval_pipeline.suites import Cell
from eval_pipeline.warehouse.store import Warehouse

_FILE = "plan.json"
_NAMES = {"at_least", "calls", "at_most", "or_more", "pages", "above"}


def keep_plan(warehouse: Warehouse, plan: CellPlan) -> None:
    """Store the numbers of a plan beside the cell's report."""
    certain = [estimate for estimate in plan.calls if not estimate.at_most]
    pages = len(plan.pages)  # embedded for all runs together: no run's own call
    numbers = {
        "at_least": sum(estimate.at_least for estimate in certain) - pages,
        "calls": round(sum(estimate.calls for estimate in certain)) - pages,
        "at_most": round(sum(estimate.calls for estimate in plan.calls)) - pages,
        "or_more": any(estimate.input_tokens is None for estimate in plan.calls),
        "pages": plan.pages,
        "above": plan.traces.planned_above + plan.checks.planned_above,
    }
    _write(warehouse, plan.cell, numbers)


def compare_with_plan(warehouse: Warehouse, report: StageReport, recordings: Path) -> str | None:
    """`planned 12 calls, made 11`, once after a plan; None where none was made.

    Args:
        warehouse: where the plan is kept.
        report: of the run that followed.
        recordings: folder of what the run recorded.
    """
    try:
        kept = json.loads(warehouse.read_text("stage_report", _FILE, **cell_keys(report.cell)))
    except (EvalError, ValueError):
        return None
    if not isinstance(kept, dict) or kept.keys() != _NAMES:
        return None
    _write(warehouse, report.cell, None)
    made = report.summary.totals.called + report.summary.totals.judge_called
    least, about, most = kept["at_least"], kept["calls"], kept["at_most"]
    planned = f"at least {least:,}, about {about:,}" if about > least else f"{about:,}"
    if most > about:
        planned += f" to {most:,}"
    if kept["or_more"]:  # of which nothing like it was recorded
        planned += " or more"
    beside = " beside those of the cells planned with it" if kept["above"] else ""
    text = f"planned {planned} calls{beside}, made {made:,}"
    if pages := kept["pages"]:
        embedded = read_digests(recordings).keys() & set(pages)
        text += f"; {len(pages):,} page{'s' * (len(pages) > 1)} to embed, {len(embedded):,} embedded"
    return text


def _write(warehouse: Warehouse, cell: Cell, content: Any) -> None:
    warehouse.write_text("stage_report", _FILE, json.dumps(content) + "\n", **cell_keys(cell))
