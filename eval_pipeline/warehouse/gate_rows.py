"""A gate decision as the one row of the `gate_decision` table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from eval_pipeline.gating.decision import ComparedTest, GateDecision
from eval_pipeline.gating.render import decision_data
from eval_pipeline.warehouse.arrow_schemas import GATE_DECISION
from eval_pipeline.warehouse.stored_text import json_text, plain


def gate_table(decision: GateDecision) -> pa.Table:
    """The `gate_decision` table of one decision: one row."""
    rate = decision.rates[0].candidate if decision.rates else None
    baseline = decision.baseline
    fields: dict[str, Any] = plain(
        {
            "decision": decision.verdict,
            "exit_code": decision.exit_code,
            "reasons": [
                {"verdict": r.verdict, "rule": r.rule, "text": r.text, "tests": list(r.tests)}
                for r in decision.reasons
            ],
            "regressed": _names(decision.regressed),
            "fixed": _names(decision.fixed),
            "critical_failures": _names(decision.critical_failures),
            "missing": _names(decision.missing),
            "new": _names(decision.new),
            "unmeasured": _names(decision.unmeasured),
            "passed": rate.passed if rate else 0,
            "measured": rate.total if rate else 0,
            "baseline_dataset": baseline and baseline.dataset,
            "baseline_model": baseline and baseline.model,
            "baseline_prompt": baseline and baseline.prompt_version,
        }
    )
    row = fields | {"details": json_text(decision_data(decision), "gate decision")}
    return pa.Table.from_pylist([row], schema=GATE_DECISION)


def _names(tests: Sequence[ComparedTest]) -> list[str]:
    return [test.nodeid for test in tests]
