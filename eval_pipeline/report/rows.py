"""A stage report as rows of the `stage_report` table, and as the row of its run in `runs`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa

from eval_pipeline.report.json_form import plain_row
from eval_pipeline.report.stage_report import StageReport
from eval_pipeline.warehouse.arrow_schemas import STAGE_REPORT
from eval_pipeline.warehouse.runs import Run


def report_table(report: StageReport) -> pa.Table:
    """The `stage_report` table: one row a case and repeat, in the report's order."""
    cell, stages = report.cell, report.stages
    return rows_table([stored_row(plain_row(row, cell, stages)) for row in report.rows])


def rows_table(rows: Sequence[Mapping[str, Any]]) -> pa.Table:
    """The `stage_report` table of some `stored_row`s."""
    return pa.Table.from_pylist(list(rows), schema=STAGE_REPORT)


def stored_row(data: Mapping[str, Any]) -> dict[str, Any]:
    """A row of the table; `data` is a row's `plain_row`."""
    error: Mapping[str, Any] = data["error"] or {}
    same = ("repeat", "outcome", "calls", "answer", "first_failure", "first_failure_outcome")
    return {
        "case_id": data["id"],
        **{name: data[name] for name in (*same, "first_failure_source", "first_advisory_failure")},
        "error_source": error.get("source"),
        "error_kind": error.get("kind"),
        "error_message": error.get("message"),
        "row": json.dumps(data, ensure_ascii=False, allow_nan=False),
    }


def run_of(report: StageReport, run_id: str, record_mode: str) -> Run:
    """The row that a run adds to `runs`, stored now."""
    numbers = report.numbers()

    def count(name: str) -> int:
        return int(numbers.get(name, 0))

    return Run(
        run_id=run_id,
        stored_at=datetime.now(UTC),
        suite=report.cell.suite,
        candidate=report.cell.candidate,
        dataset=report.cell.dataset,
        record_mode=record_mode,
        repeats=int(report.key.get("repeats", 1)),
        cases=count("cases"),
        passed=count("passed"),
        failed=count("failed"),
        errors=count("error"),
        not_measured=count("not_measured"),
        calls=count("calls"),
        called=count("called"),
        input_tokens=count("input_tokens"),
        output_tokens=count("output_tokens"),
        cost=numbers.get("cost"),
        judge_calls=count("judge_calls"),
        judge_called=count("judge_called"),
        judge_tokens=count("judge_tokens"),
    )
