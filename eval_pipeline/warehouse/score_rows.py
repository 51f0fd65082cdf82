"""Check results as rows of the `stage_scores` table, and back."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

from eval_pipeline.errors import EvalError
from eval_pipeline.scores import CheckResult, Score
from eval_pipeline.warehouse.arrow_schemas import INPUTS, STAGE_SCORES
from eval_pipeline.warehouse.row_inputs import RowInputs, hashed, input_columns
from eval_pipeline.warehouse.stored_text import json_text, optional_text, stored_text

_READ = [name for name in STAGE_SCORES.names if name not in INPUTS and not name.startswith("own_")]
CheckKey = tuple[str, int, str]
"""Case id, repeat and stage."""


def scores_table(
    checks: Sequence[CheckResult], inputs: Mapping[CheckKey, RowInputs | None] | None = None
) -> pa.Table:
    """The `stage_scores` table: each check's own score, followed by its further metrics.

    Args:
        checks: the outcomes, in order.
        inputs: what a check followed from.

    Raises:
        EvalError: when a score's details are not plain JSON, or a metric has its stage's name.
    """
    known = inputs or {}
    rows = [
        row
        for check in checks
        for row in _hashed_rows(check, known.get((check.case_id, check.repeat, check.stage)))
    ]
    return pa.Table.from_pylist(rows, schema=STAGE_SCORES)


def checks_from(table: pa.Table) -> list[CheckResult]:
    """The check results of a `stage_scores` table, in its order.

    A scored check's reason is its score's reason: both come from the one stored `reason`.
    """
    rows = table.select(_READ).to_pylist()
    metrics: dict[tuple[Any, ...], dict[str, float]] = {}
    for row in rows:
        if row["metric"] != row["stage"]:
            metrics.setdefault(_check_key(row), {})[row["metric"]] = row["score"]
    return [_check(row, metrics.get(_check_key(row), {})) for row in rows if row["metric"] == row["stage"]]


def _hashed_rows(check: CheckResult, inputs: RowInputs | None) -> Iterator[dict[str, Any]]:
    own, *metrics = _rows(check)
    yield hashed(own, metrics) | input_columns(inputs)
    for metric in metrics:
        yield metric | {"carried_over": False, "inputs_known": inputs and inputs.known}


def _rows(check: CheckResult) -> Iterator[dict[str, Any]]:
    ids: dict[str, Any] = {
        "case_id": stored_text(check.case_id),
        "repeat": check.repeat,
        "judge_repeat": check.judge_repeat,
        "stage": check.stage,
        "judge": optional_text(check.judge),
    }
    score = check.score
    unmeasured = score is None and check.outcome in ("error", "not_measured")
    place = f"stage {check.stage!r} of case {check.case_id!r}"
    yield ids | {
        "metric": check.stage,
        "gating": check.gating,
        "score": None if score is None else float(score.value),
        "threshold": check.threshold,
        "passed": None if score is None else score.passed,
        "outcome": check.outcome,
        "reason": None if unmeasured else stored_text(check.reason),
        "error": stored_text(check.reason) if unmeasured else None,
        "error_source": check.error_source,
        "calls": check.calls,
        "tokens": check.tokens,
        "called": check.called,
        "cost": check.cost,
        "own_calls": check.calls,
        "own_tokens": check.tokens,
        "own_cost": check.cost,
        "milliseconds": check.milliseconds,
        "details": None if score is None else json_text(score.details, f"{place}: details"),
    }
    for name, value in (score.metrics if score else {}).items():
        if name == check.stage:
            raise EvalError(f"{place}: metric {name!r} has the stage's own name; rename it in the scorer")
        yield ids | {"metric": stored_text(name), "gating": False, "score": float(value)}


def _check_key(row: Mapping[str, Any]) -> tuple[Any, ...]:
    return row["case_id"], row["repeat"], row["stage"], row["judge_repeat"], row["judge"]


def _check(row: Mapping[str, Any], metrics: Mapping[str, float]) -> CheckResult:
    reason = row["error"] if row["reason"] is None else row["reason"]
    score = None
    if row["score"] is not None:
        score = Score.trusted(
            {
                "value": row["score"],
                "reason": reason,
                "passed": row["passed"],
                "metrics": metrics,
                "details": {} if row["details"] == "{}" else json.loads(row["details"]),
            }
        )
    return CheckResult(
        case_id=row["case_id"],
        repeat=row["repeat"],
        stage=row["stage"],
        outcome=row["outcome"],
        gating=row["gating"],
        threshold=row["threshold"],
        reason=reason,
        score=score,
        error_source=row["error_source"],
        milliseconds=row["milliseconds"],
        judge=row["judge"],
        judge_repeat=row["judge_repeat"],
        calls=row["calls"] or 0,
        tokens=row["tokens"] or 0,
        called=row["called"] or 0,
        cost=row["cost"],
    )
