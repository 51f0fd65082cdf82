"""A cell's report as a step of an evaluation: made of its stored traces and checks, and stored too."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from eval_pipeline.calibration_results import read_records
from eval_pipeline.carry_over.traces import cell_keys
from eval_pipeline.cell_outcomes import cell_outcomes
from eval_pipeline.content_hash import ListHash, content_hash
from eval_pipeline.fingerprints import report_code
from eval_pipeline.gating.outcomes import JudgeRecord, Outcomes
from eval_pipeline.report.key import report_key
from eval_pipeline.report.rows import run_of
from eval_pipeline.report.stage_report import StageReport, make_report
from eval_pipeline.report.stored_rows import StoredRows
from eval_pipeline.report.storing import ReportWriter, kept_version, note_inputs
from eval_pipeline.stored import Stored
from eval_pipeline.suites import Cell, Suite
from eval_pipeline.warehouse.table_reader import TableReader

if TYPE_CHECKING:
    from eval_pipeline.evaluation import Evaluation

_TRACE_COLUMNS = ("content_hash", "calls", "latency_ms", "cost")
_CHECK_COLUMNS = ("content_hash", "calls", "tokens", "cost")
"""All that a report shows of a row: its content, and what the calls took that made it."""


def store_report(evaluation: Evaluation, cell: Cell) -> tuple[StageReport, Stored]:
    """One row a case and repeat, and beside them the report as JSON and the outcomes for a gate.

    Files that were made of the same are left alone.

    Raises:
        NotStoredError: when the cell's traces or scores are not stored.
    """
    suite = evaluation.suite_of(cell)
    warehouse, keys = evaluation.warehouse, cell_keys(cell)
    records = read_records(evaluation.shared_warehouse, suite, cell)
    traces, checks = warehouse.open("traces", **keys), warehouse.open("stage_scores", **keys)
    rows = StoredRows(suite, cell, traces, checks)
    inputs = _inputs(suite, cell, traces, checks, records)
    version = kept_version(warehouse, keys, inputs)
    if version is not None:
        report = make_report(suite, cell, rows, records)
    else:
        with ReportWriter(warehouse, suite, cell) as writer:
            report = make_report(suite, cell, rows, records, writer.add)
            version = writer.finish(report)
        note_inputs(warehouse, keys, inputs, version)
    warehouse.append_run(run_of(report, evaluation.run_id, evaluation.mode))
    return report, Stored(version, report.numbers())


def build_report(evaluation: Evaluation, cell: Cell) -> StageReport:
    """The report of what is stored for a cell.

    Raises:
        NotStoredError: when its traces or scores are not stored.
    """
    suite = evaluation.suite_of(cell)
    records = read_records(evaluation.shared_warehouse, suite, cell)
    keys = cell_keys(cell)
    traces = evaluation.warehouse.open("traces", **keys)
    checks = evaluation.warehouse.open("stage_scores", **keys)
    return make_report(suite, cell, StoredRows(suite, cell, traces, checks), records)


def build_outcomes(evaluation: Evaluation, cell: Cell) -> Outcomes:
    """The outcomes of what is stored for a cell: a side of a gate.

    Raises:
        NotStoredError: when its traces or scores are not stored.
    """
    return cell_outcomes(evaluation.suite_of(cell), build_report(evaluation, cell))


def _inputs(
    suite: Suite, cell: Cell, traces: TableReader, checks: TableReader, records: Mapping[str, JudgeRecord]
) -> str | None:
    """Hash of all that a report follows from; None where it cannot be told."""
    code = report_code()
    contents = [_content(traces, _TRACE_COLUMNS), _content(checks, _CHECK_COLUMNS)]
    if code is None or None in contents:
        return None
    dataset = suite.datasets[cell.dataset]
    order = ListHash()
    order.add(list(dataset.places))
    known = {name: record.model_dump(mode="json") for name, record in records.items()}
    declared = [report_key(suite, cell), dataset.cases_sha, order.hexdigest(), known]
    return content_hash([declared, contents, code])


def _content(table: TableReader, columns: tuple[str, ...]) -> str | None:
    """Hash of some columns of all rows; None of a table stored by an older version, which lacks them."""
    found, hashed = ListHash(), 0
    for part in table.parts(columns):
        hashed += part.num_rows - part["content_hash"].null_count
        for column in part.columns:
            found.add(column.to_pylist())
    return found.hexdigest() if hashed or not table.num_rows else None
