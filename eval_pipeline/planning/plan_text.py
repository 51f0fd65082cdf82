"""Plans in words and as JSON."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator, Sequence

from eval_pipeline.planning.cell_plan import CellPlan, RowsPlanned
from eval_pipeline.planning.typical_calls import CallEstimate
from eval_pipeline.prices import dollars, total_cost
from eval_pipeline.report.inert_text import visible

MOST_REASONS = 12


def plan_text(plan: CellPlan) -> str:
    """One cell's plan, a line for each table, reason and model."""
    lines = [f"{plan.cell.suite}: {plan.cell.candidate} on {plan.cell.dataset}"]
    lines += [f"  traces  {_rows(plan.traces)}", f"  checks  {_rows(plan.checks)}"]
    reasons = [f"{visible(reason)}: {count}" for reason, count in plan.reasons.items()]
    lines += [f"  why     {text}" for text in reasons[:MOST_REASONS]]
    if len(reasons) > MOST_REASONS:
        lines.append(f"          {len(reasons) - MOST_REASONS} more reasons: --format json")
    lines += [f"  calls   {text}" for text in _calls(plan.calls)] or ["  calls   none"]
    return "\n".join(lines)


def total_text(plans: Sequence[CellPlan], command: str) -> str:
    """What all cells take together, and the command that does it."""
    calls = [estimate for plan in plans for estimate in plan.calls]
    certain = [estimate for estimate in calls if not estimate.at_most]
    if not calls:
        return f"no call is needed; run: {command}"
    text = f"about {_whole(sum(estimate.calls for estimate in certain))} calls"
    if more := sum(estimate.calls for estimate in calls if estimate.at_most):
        text += f" and up to {_whole(more)} more that depend on the answers"
    cost = total_cost(estimate.cost for estimate in calls)
    if cost is not None:
        text += f", about {dollars(cost)} at list price"
    return f"{text}; nothing is called before: {command}"


def plan_json(plans: Sequence[CellPlan]) -> str:
    """The plans as JSON text with a line end."""
    return json.dumps([dataclasses.asdict(plan) for plan in plans], indent=2, ensure_ascii=False) + "\n"


def _rows(rows: RowsPlanned) -> str:
    named = {
        "carried over": rows.carried_over,
        "replayed": rows.replayed,
        "called": rows.called,
        "open until then": rows.open,
    }
    told = ", ".join(f"{count} {name}" for name, count in named.items() if count)
    return f"{sum(named.values())}: {told}" if told else "none"


def _calls(calls: Sequence[CallEstimate]) -> Iterator[str]:
    for estimate in calls:
        about = "up to" if estimate.at_most else "about"
        who = "judge " if estimate.role == "judge" else ""
        text = f"{who}{estimate.model}: {about} {_whole(estimate.calls)}"
        if estimate.input_tokens is None or estimate.output_tokens is None:
            yield f"{text}, tokens unknown"
            continue
        price = "no list price" if estimate.cost is None else dollars(estimate.cost)
        tokens = f"{_whole(estimate.input_tokens)} tokens in, {_whole(estimate.output_tokens)} out"
        yield f"{text}, {tokens}, {price}"


def _whole(number: float) -> str:
    return f"{round(number):,}"
