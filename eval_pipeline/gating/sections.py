"""What a decision shows and in which order, the same in text and in Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from eval_pipeline.gating.decision import AdvisoryStage, Change, ComparedTest, GateDecision, RatePair
from eval_pipeline.gating.outcomes import EvalBlock, RunUsage
from eval_pipeline.gating.rules import describe_change


@dataclass(frozen=True)
class Section:
    """One titled list; an empty one says why it is empty."""

    title: str
    lines: tuple[str, ...]
    empty: str = "none"


def describe_side(block: EvalBlock | None, digest: str | None) -> str:
    """One side in a line: model, prompt and dataset, with an imported report's digest."""
    if block is None:
        return "none"
    parts = [block.model or "model not given", block.prompt_version or "prompt not given", block.dataset]
    if digest:
        parts.append(f"report {digest}")
    return ", ".join(parts)


def rate_rows(rates: Iterable[RatePair]) -> list[tuple[str, str, str]]:
    """Name, baseline's and candidate's rate with count and interval."""
    return [(pair.name, str(pair.baseline) if pair.baseline else "–", str(pair.candidate)) for pair in rates]


def list_sections(decision: GateDecision) -> tuple[Section, ...]:
    """Everything beside verdict, reasons and rates, whether or not there is any of it."""
    unless_compared = "none" if decision.compared else "not compared"
    shifts = tuple(
        f"{shift.case}: {shift.baseline or 'none'} → {shift.candidate or 'none'}" for shift in decision.shifts
    )
    advisory = tuple(_advisory(stage, decision.candidate) for stage in decision.advisory)
    usage = _usage(decision.baseline_usage, decision.candidate_usage)
    return (
        Section("changed", tuple(map(_change, decision.changes))),
        Section("notes", decision.notes),
        Section("regressed", _tests(decision.regressed), unless_compared),
        Section("fixed", _tests(decision.fixed), unless_compared),
        Section("critical failures", _tests(decision.critical_failures)),
        Section("missing", _tests(decision.missing), unless_compared),
        Section("new", _tests(decision.new), unless_compared),
        Section("errors", _tests(decision.errors)),
        Section("unmeasured", _tests(decision.unmeasured)),
        Section("flaky", _tests(decision.flaky)),
        Section("first failing stage", shifts, "no shift" if decision.compared else "not compared"),
        Section("advisory stages", advisory),
        Section("cost and latency", usage, "not recorded"),
    )


def _change(change: Change) -> str:
    return f"{change.component}: {change.baseline} → {change.candidate} ({change.effect})"


def _tests(tests: Sequence[ComparedTest]) -> tuple[str, ...]:
    return tuple(f"{test.nodeid} {describe_change(test)}" for test in tests)


def _advisory(stage: AdvisoryStage, candidate: EvalBlock) -> str:
    declared = next((known.gating for known in candidate.stages if known.name == stage.check), None)
    if declared == "never":
        told = "never gates"
    else:
        told = f"advisory: {stage.record}" if stage.record else "advisory, no record of a judge"
    return f"{stage.check}: {stage.rate} passed; {told}"


def _usage(before: RunUsage | None, after: RunUsage | None) -> tuple[str, ...]:
    """Each figure that either side knows, old → new."""
    names = {
        "calls": "calls",
        "input_tokens": "input tokens",
        "output_tokens": "output tokens",
        "cost_usd": "cost in USD",
        "latency_ms": "mean ms a case",
    }
    lines = []
    for field, name in names.items():
        old, new = getattr(before, field, None), getattr(after, field, None)
        if old is not None or new is not None:
            lines.append(f"{name}: {_figure(old)} → {_figure(new)}{_ratio(old, new)}")
    return tuple(lines)


def _figure(value: float | None) -> str:
    return "not known" if value is None else f"{value:,.6g}" if isinstance(value, float) else f"{value:,}"


def _ratio(old: float | None, new: float | None) -> str:
    return f" ({(new - old) / old:+.0%})" if old and new is not None else ""
