"""A cell's report as a step of an evaluation: made of its stored traces and checks, and stored too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from eval_pipeline.calibration_results import read_records
from eval_pipeline.carry_over.traces import cell_keys
from eval_pipeline.cell_outcomes import cell_outcomes
from eval_pipeline.content_hash import content_hash
from eval_pipeline.fingerprints import report_code
from eval_pipeline.gating.outcomes import JudgeRecord, Outcomes
from eval_pipeline.report.kept_parts import KeptParts, note_parts
from eval_pipeline.report.key import report_key
from eval_pipeline.report.parts import Part, PartTally, make_part, parts_of, tally_of
from eval_pipeline.report.rows import run_of
from eval_pipeline.report.stage_report import StageReport, make_report
from eval_pipeline.report.stored_rows import StoredRows
from eval_pipeline.report.storing import ReportWriter
from eval_pipeline.report.summing_up import shown_metrics
from eval_pipeline.stored import Stored
from eval_pipeline.suites import Cell, Suite

if TYPE_CHECKING:
    from eval_pipeline.evaluation import Evaluation


def store_report(evaluation: Evaluation, cell: Cell) -> tuple[StageReport, Stored]:
    """One row a case and repeat, and beside them the report as JSON and the outcomes for a gate.

    Files that were made of the same are left alone; parts that were, are taken over: neither without
    carry-over.

    Raises:
        NotStoredError: when the cell's traces or scores are not stored.
    """
    suite = evaluation.suite_of(cell)
    warehouse, keys = evaluation.warehouse, cell_keys(cell)
    records = read_records(evaluation.shared_warehouse, suite, cell)
    rows = _stored_rows(evaluation, suite, cell)
    parts = list(parts_of(suite, cell, rows))
    inputs = _inputs(suite, cell, parts, records)
    kept = KeptParts(warehouse, keys)
    total = PartTally()
    version = kept.own.version(inputs) if evaluation.carry_over else None
    if version is not None:
        for part in parts:
            total.merge(kept.own.tally(part) or tally_of(rows.at(part.places)))
        report = make_report(suite, cell, rows, records, total.report)
    else:
        with ReportWriter(warehouse, suite, cell) as writer:
            for part in parts:
                stored_before = kept.content(part) if evaluation.carry_over else None
                content = stored_before or make_part(suite, cell, rows.at(part.places))
                writer.add(part, content)
                total.merge(content.tally)
            report = make_report(suite, cell, rows, records, total.report)
            stored = writer.finish(report, total.usage, inputs)
        note_parts(warehouse, keys, stored)
        version = stored.version
    warehouse.append_run(run_of(report, evaluation.run_id, evaluation.mode))
    return report, Stored(version, report.numbers())


def build_report(evaluation: Evaluation, cell: Cell) -> StageReport:
    """The report of what is stored for a cell.

    Raises:
        NotStoredError: when its traces or scores are not stored.
    """
    suite = evaluation.suite_of(cell)
    records = read_records(evaluation.shared_warehouse, suite, cell)
    return make_report(suite, cell, _stored_rows(evaluation, suite, cell), records)


def build_outcomes(evaluation: Evaluation, cell: Cell) -> Outcomes:
    """The outcomes of what is stored for a cell: a side of a gate.

    Raises:
        NotStoredError: when its traces or scores are not stored.
    """
    return cell_outcomes(evaluation.suite_of(cell), build_report(evaluation, cell))


def _stored_rows(evaluation: Evaluation, suite: Suite, cell: Cell) -> StoredRows:
    traces = evaluation.warehouse.open("traces", **cell_keys(cell))
    return StoredRows(suite, cell, traces, evaluation.warehouse.open("stage_scores", **cell_keys(cell)))


def _inputs(
    suite: Suite, cell: Cell, parts: Sequence[Part], records: Mapping[str, JudgeRecord]
) -> str | None:
    """Hash of all that a report follows from; None where it cannot be told."""
    if any(part.inputs is None for part in parts):
        return None
    known = {name: record.model_dump(mode="json") for name, record in records.items()}
    shown = [shown_metrics(stage) for stage in suite.stages]
    made_of = [part.inputs for part in parts]
    return content_hash([report_key(suite, cell), made_of, known, shown, report_code()])
