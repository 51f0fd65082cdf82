"""Plans in words and as JSON."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence

from eval_pipeline.planning.cell_plan import CellPlan
from eval_pipeline.planning.planned_rows import RowsPlanned
from eval_pipeline.planning.typical_calls import CallEstimate
from eval_pipeline.prices import dollars, total_cost
from eval_pipeline.report.inert_text import visible

MOST_REASONS = 12


def plan_text(plan: CellPlan) -> str:
    """One cell's plan, a line for each table, reason and model."""
    lines = [f"{plan.cell.suite}: {plan.cell.candidate} on {plan.cell.dataset}"]
    lines += [f"  traces  {_rows(plan.traces)}", *_why(plan.trace_reasons)]
    lines += [f"  checks  {_rows(plan.checks)}", *_why(plan.check_reasons)]
    lines += [f"  calls   {text}" for text in _calls(plan.calls)] or ["  calls   none"]
    return "\n".join(lines)


def total_text(plans: Sequence[CellPlan], command: str) -> str:
    """What all cells take together, and the command that does it."""
    calls = [estimate for plan in plans for estimate in plan.calls]
    if not calls:
        return f"no call is needed; run: {command}"
    chats = [estimate for estimate in calls if estimate.kind == "chat"]
    texts = sum(estimate.calls for estimate in calls if estimate.kind == "embed" and not estimate.at_most)
    certain = [estimate for estimate in chats if not estimate.at_most]
    parts = [_texts(texts)] if texts else []
    if certain:
        text = _count(certain)
        parts.append(f"{text} call{'' if text == '1' else 's'}")
    if more := sum(estimate.calls for estimate in calls if estimate.at_most):
        parts.append(f"up to {_whole(more)} more that depend on the answers")
    text = " and ".join(parts)
    cost = total_cost(estimate.cost for estimate in calls)
    if cost is not None:
        text += f", about {dollars(cost)} at list price"
    return f"{text}; nothing is called before: {command}"


def calibration_text(plans: Iterable[CellPlan]) -> str:
    """The judges whose calibration is not recorded, with its calls and its command; empty without any."""
    found = {plan.calibration.key: plan.calibration for plan in plans if plan.calibration is not None}
    lines: list[str] = []
    for later in found.values():
        (text,) = _calls([later.calls])
        lines += [f"calibration {later.key} is not recorded, and its stages only advise", f"  calls   {text}"]
        lines.append(f"  not by a run, but by: {later.command}")
    return "\n".join(lines)


def plan_json(plans: Sequence[CellPlan]) -> str:
    """The plans as JSON text with a line end."""
    return json.dumps([dataclasses.asdict(plan) for plan in plans], indent=2, ensure_ascii=False) + "\n"


def _why(counted: Mapping[str, int]) -> list[str]:
    reasons = [f"{visible(reason)}: {count}" for reason, count in counted.items()]
    lines = [f"    why   {text}" for text in reasons[:MOST_REASONS]]
    if len(reasons) > MOST_REASONS:
        lines.append(f"          {len(reasons) - MOST_REASONS} more reasons: --format json")
    return lines


def _rows(rows: RowsPlanned) -> str:
    named = {
        "carried over": rows.carried_over,
        "carried over from what is planned above": rows.planned_above,
        "replayed": rows.replayed,
        "to call": rows.called,
        "open until answers are there": rows.open,
    }
    told = ", ".join(f"{count} {name}" for name, count in named.items() if count)
    return f"{sum(named.values())}: {told}" if told else "none"


def _calls(calls: Sequence[CallEstimate]) -> Iterator[str]:
    for estimate in calls:
        count = _texts(estimate.calls) if estimate.kind == "embed" else _whole(estimate.calls)
        who = "judge " if estimate.role == "judge" else ""
        if estimate.kind == "chat" and not estimate.at_most:
            count = _count([estimate])
        text = f"{who}{estimate.model}: {'up to ' if estimate.at_most else ''}{count}"
        if estimate.input_tokens is None or estimate.output_tokens is None:
            yield f"{text} or more, tokens unknown: nothing like it is recorded"
            continue
        price = "no list price" if estimate.cost is None else dollars(estimate.cost)
        tokens = f"{_whole(estimate.input_tokens)} tokens in"
        if estimate.kind == "chat":
            tokens += f", {_whole(estimate.output_tokens)} out"
        yield f"{text}, {tokens}, {price}"


def _count(calls: Sequence[CallEstimate]) -> str:
    """How many calls are certain, and how many they will be about, by what such runs took before."""
    least, about = sum(call.at_least for call in calls), round(sum(call.calls for call in calls))
    return f"at least {least:,}, about {about:,}" if about > least else f"{about:,}"


def _texts(number: float) -> str:
    return f"{_whole(number)} text{'' if round(number) == 1 else 's'} to embed"


def _whole(number: float) -> str:
    return f"{round(number):,}"
