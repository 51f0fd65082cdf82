"""The last plan of a cell, kept until the next run of it shows what was planned beside what was called."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from pydantic import TypeAdapter

from eval_pipeline.carry_over.traces import cell_keys
from eval_pipeline.errors import EvalError
from eval_pipeline.planning.cell_plan import CellPlan
from eval_pipeline.recordings import read_digests
from eval_pipeline.report.stage_report import StageReport
from eval_pipeline.suites import Cell
from eval_pipeline.warehouse.store import Warehouse

_FILE = "plan.json"


@dataclass(frozen=True)
class _Kept:
    at_least: int
    calls: int
    at_most: int
    or_more: bool
    """Whether nothing like some of the calls was recorded."""
    pages: tuple[str, ...]
    with_others: bool


_KEPT = TypeAdapter(_Kept | None)


def keep_plan(warehouse: Warehouse, plan: CellPlan) -> None:
    """Store the numbers of a plan beside the cell's report."""
    certain = [estimate for estimate in plan.calls if not estimate.at_most]
    pages = len(plan.pages)  # embedded for all runs together: no run's own call
    kept = _Kept(
        at_least=sum(estimate.at_least for estimate in certain) - pages,
        calls=round(sum(estimate.calls for estimate in certain)) - pages,
        at_most=round(sum(estimate.calls for estimate in plan.calls)) - pages,
        or_more=any(estimate.input_tokens is None for estimate in plan.calls),
        pages=plan.pages,
        with_others=plan.with_others,
    )
    _write(warehouse, plan.cell, kept)


def compare_with_plan(warehouse: Warehouse, report: StageReport, recordings: Path) -> str | None:
    """`planned 12 calls, made 11`, once after a plan; None where none was made.

    Args:
        warehouse: where the plan is kept.
        report: of the run that followed.
        recordings: folder of what the run recorded.
    """
    try:
        kept = _KEPT.validate_json(warehouse.read_text("stage_report", _FILE, **cell_keys(report.cell)))
    except (EvalError, ValueError):
        return None
    if kept is None:
        return None
    _write(warehouse, report.cell, None)
    made = report.summary.totals.called + report.summary.totals.judge_called
    least, about = kept.at_least, kept.calls
    planned = f"at least {least:,}, about {about:,}" if about > least else f"{about:,}"
    if kept.at_most > about:
        planned += f" to {kept.at_most:,}"
    if kept.or_more:
        planned += " or more"
    beside = " beside those of the cells planned with it" if kept.with_others else ""
    text = f"planned {planned} calls{beside}, made {made:,}"
    if pages := kept.pages:
        embedded = read_digests(recordings).keys() & set(pages)
        text += f"; {len(pages):,} page{'s' * (len(pages) > 1)} to embed, {len(embedded):,} embedded"
    return text


def _write(warehouse: Warehouse, cell: Cell, kept: _Kept | None) -> None:
    text = _KEPT.dump_json(kept).decode() + "\n"
    warehouse.write_text("stage_report", _FILE, text, **cell_keys(cell))
