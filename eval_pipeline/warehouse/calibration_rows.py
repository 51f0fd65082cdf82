"""What a judge said of calibration cases, as rows of the `calibration` table and back."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pyarrow as pa

from eval_pipeline.calibration import CalibrationScore
from eval_pipeline.warehouse.arrow_schemas import CALIBRATION
from eval_pipeline.warehouse.stored_text import json_text, optional_text, stored_text


def calibration_table(scores: Sequence[CalibrationScore]) -> pa.Table:
    """The `calibration` table, in the order given."""
    rows = [
        {
            "case_id": stored_text(score.case_id),
            "metric": score.metric,
            "expected": score.expected,
            "judge_repeat": score.judge_repeat,
            "outcome": score.outcome,
            "threshold": score.threshold,
            "reason": stored_text(score.reason),
            "score": score.score,
            "error_source": score.error_source,
            "judge_id": optional_text(score.judge),
            "calls": score.calls,
            "tokens": score.tokens,
            "details": json_text(score.details, f"calibration case {score.case_id!r}: details"),
        }
        for score in scores
    ]
    return pa.Table.from_pylist(rows, schema=CALIBRATION)


def calibration_from(table: pa.Table) -> list[CalibrationScore]:
    """The scores of a `calibration` table, in its order."""
    rows = table.rename_columns({"judge_id": "judge"}).to_pylist()
    return [CalibrationScore(**{**row, "details": json.loads(row["details"])}) for row in rows]
