"""A decision as text and as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from eval_pipeline.gating.decision import ComparedTest, GateDecision
from eval_pipeline.gating.outcomes import EvalBlock, RunUsage
from eval_pipeline.gating.sections import Section, describe_side, list_sections, rate_rows
from eval_pipeline.report.inert_text import visible
from eval_pipeline.statistics import Rate

_SHOWN_LINES = 20


def render_text(decision: GateDecision) -> str:
    """The decision for a terminal: verdict and reasons first, long lists cut.

    Nothing in it but what is printable: names in a report may hold anything.
    """
    lines = [
        f"decision: {decision.verdict.upper()}",
        f"suite: {decision.candidate.suite or 'not given'}",
        f"baseline: {describe_side(decision.baseline, decision.digests[0])}",
        f"candidate: {describe_side(decision.candidate, decision.digests[1])}",
    ]
    reasons = tuple(f"{reason.verdict}: {reason.text}" for reason in decision.reasons)
    lines += _section(Section("reasons", reasons, "no rule is broken"))
    lines += ["pass rates (baseline, candidate):", *_table(rate_rows(decision.rates))]
    if decision.compared:
        lines.append(f"paired: {decision.odds}")
    for section in list_sections(decision):
        lines += _section(section)
    return "".join(f"{visible(line)}\n" for line in lines)


def _section(section: Section) -> list[str]:
    if not section.lines:
        return [f"{section.title}: {section.empty}"]
    more = len(section.lines) - _SHOWN_LINES
    rest = [f"  … and {more} more; --format json has them all"] if more > 0 else []
    shown = section.lines[:_SHOWN_LINES]
    return [f"{section.title} ({len(section.lines)}):", *(f"  {line}" for line in shown), *rest]


def _table(rows: Sequence[tuple[str, str, str]]) -> list[str]:
    first, second = (max((len(row[i]) for row in rows), default=0) for i in (0, 1))
    return [f"  {name:<{first}}  {before:<{second}}  {after}" for name, before, after in rows]


def render_json(decision: GateDecision) -> str:
    """The decision in full as JSON text; stable, so that a stored one can be compared."""
    text = json.dumps(decision_data(decision), indent=2, ensure_ascii=False) + "\n"
    # A lone surrogate has no UTF-8; its escape is the same JSON.
    return text.encode("utf-8", "backslashreplace").decode()


def decision_data(decision: GateDecision) -> dict[str, Any]:
    """The decision as plain JSON: every list but the tests that did not move."""
    return {
        "decision": decision.verdict,
        "exit_code": decision.exit_code,
        "reasons": [
            {"verdict": r.verdict, "rule": r.rule, "text": r.text, "tests": list(r.tests)}
            for r in decision.reasons
        ],
        "baseline": _side(decision.baseline, decision.digests[0]),
        "candidate": _side(decision.candidate, decision.digests[1]),
        "changed": [
            {"component": c.component, "baseline": c.baseline, "candidate": c.candidate, "effect": c.effect}
            for c in decision.changes
        ],
        "notes": list(decision.notes),
        "pass_rates": [
            {"name": pair.name, "baseline": _rate(pair.baseline), "candidate": _rate(pair.candidate)}
            for pair in decision.rates
        ],
        "paired": decision.odds if decision.compared else None,
        "regressed": _tests(decision.regressed),
        "fixed": _tests(decision.fixed),
        "critical_failures": _tests(decision.critical_failures),
        "missing": _tests(decision.missing),
        "new": _tests(decision.new),
        "errors": _tests(decision.errors),
        "unmeasured": _tests(decision.unmeasured),
        "flaky": _tests(decision.flaky),
        "first_failure_shifts": [
            {"case": shift.case, "baseline": shift.baseline, "candidate": shift.candidate}
            for shift in decision.shifts
        ],
        "advisory": [
            {
                "check": stage.check,
                "pass_rate": _rate(stage.rate),
                "judge": None if stage.record is None else stage.record.model_dump(mode="json"),
            }
            for stage in decision.advisory
        ],
        "usage": {"baseline": _usage(decision.baseline_usage), "candidate": _usage(decision.candidate_usage)},
    }


def _side(block: EvalBlock | None, digest: str | None) -> dict[str, Any] | None:
    if block is None:
        return None
    fields = {name: value for name, value in block.model_dump(mode="json").items() if block.known(name)}
    return fields if digest is None else fields | {"report_digest": digest}


def _rate(rate: Rate | None) -> dict[str, Any] | None:
    if rate is None:
        return None
    return {"passed": rate.passed, "total": rate.total, "interval": [round(end, 4) for end in rate.interval]}


def _tests(tests: Sequence[ComparedTest]) -> list[dict[str, Any]]:
    return [
        {
            "nodeid": test.nodeid,
            "baseline": test.baseline.label if test.baseline else None,
            "candidate": test.candidate.label if test.candidate else None,
        }
        for test in tests
    ]


def _usage(usage: RunUsage | None) -> dict[str, Any] | None:
    return None if usage is None else usage.model_dump(mode="json")
