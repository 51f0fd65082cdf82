"""A stage report as rows of the `stage_report` table."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from eval_pipeline.report.case_reports import CaseReport
from eval_pipeline.report.json_form import row_data
from eval_pipeline.report.stage_report import StageReport
from eval_pipeline.warehouse.arrow_schemas import STAGE_REPORT
from eval_pipeline.warehouse.stored_text import json_text, plain


def report_table(report: StageReport) -> pa.Table:
    """The `stage_report` table: one row a case and repeat, in the report's order."""
    return pa.Table.from_pylist([_row(row, report) for row in report.rows], schema=STAGE_REPORT)


def _row(row: CaseReport, report: StageReport) -> dict[str, Any]:
    error = row.trace.error
    fields: dict[str, Any] = plain(
        {
            "case_id": row.trace.case_id,
            "repeat": row.trace.repeat,
            "outcome": row.outcome,
            "calls": [call.name for call in row.trace.tool_calls],
            "answer": row.trace.answer,
            "first_failure": row.first_failure,
            "first_failure_outcome": row.first_failure_outcome,
            "first_failure_source": row.first_failure_source,
            "first_advisory_failure": row.first_advisory_failure,
            "error_source": error and error.source,
            "error_kind": error and error.kind,
            "error_message": error and error.message,
        }
    )
    return {**fields, "row": json_text(row_data(row, report), f"report of case {row.trace.case_id!r}")}
