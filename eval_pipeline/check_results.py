"""A cell's checks as a step of an evaluation: carried over or scored, a window of traces at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING

from eval_pipeline.calibration_results import read_records
from eval_pipeline.carry_over.checks import CheckCarrier, join_checks
from eval_pipeline.carry_over.origins import row_origins
from eval_pipeline.carry_over.traces import cell_keys
from eval_pipeline.cell_scoring import CellScoring
from eval_pipeline.judge_runs import calibrated_by, run_tasks
from eval_pipeline.shards import CheckPart, Shard
from eval_pipeline.stored import Stored
from eval_pipeline.stored_runs import refuse_other_runs
from eval_pipeline.suites import Cell, Suite
from eval_pipeline.warehouse.table_content import TableTally
from eval_pipeline.warehouse.table_reader import TableReader

if TYPE_CHECKING:
    from eval_pipeline.evaluation import Evaluation


def score_shard(evaluation: Evaluation, cell: Cell, shard: Shard) -> CheckPart:
    """The checks of one shard's traces, for `store_scores`; nothing is stored but what is recorded.

    Raises:
        NotStoredError: when the cell's traces are not stored, or those of another number of repeats.
    """
    suite = evaluation.suite_of(cell)
    traces = _open_traces(evaluation, suite, cell)
    calibrated = calibrated_by(read_records(evaluation.shared_warehouse, suite, cell))
    carrier = CheckCarrier(evaluation.warehouse, suite, cell, calibrated, evaluation.digest_reader(suite))
    share = {run.key for run in shard.take(suite.datasets[cell.dataset].runs)}
    tasks = [
        task
        for part in traces.parts()
        for task in carrier.carry(part).tasks()
        if (task.case.id, task.trace.repeat) in share
    ]
    results = run_tasks(
        suite,
        cell,
        tasks,
        lambda: evaluation.open_recordings(suite),
        connector=evaluation.connector,
        calls=evaluation.calls,
        calibrated=calibrated,
        on_progress=evaluation.on_progress,
    )
    return CheckPart({task.place: result for task, result in zip(tasks, results, strict=True)})


def store_scores(evaluation: Evaluation, cell: Cell, parts: Sequence[CheckPart]) -> Stored:
    """One row a case, repeat, stage and metric.

    Args:
        evaluation: how judges are asked, and where results go.
        cell: which candidate on which dataset.
        parts: what shards have scored already; all else is scored now.

    Raises:
        NotStoredError: when the cell's traces are not stored, or those of another number of repeats.
        RecordingMisses: in mode `none`, when a judge is recorded in part.
    """
    suite = evaluation.suite_of(cell)
    traces = _open_traces(evaluation, suite, cell)
    calibrated = calibrated_by(read_records(evaluation.shared_warehouse, suite, cell))
    carrier = CheckCarrier(evaluation.warehouse, suite, cell, calibrated, evaluation.digest_reader(suite))
    scoring = CellScoring(
        suite,
        cell,
        lambda: evaluation.open_recordings(suite),
        connector=evaluation.connector,
        calls=evaluation.calls,
        calibrated=calibrated,
        scored={place: check for part in parts for place, check in part.checks.items()},
        on_progress=evaluation.on_progress,
    )
    tally = TableTally("calls", "called", "tokens")
    numbers = Counter({"checks": 0, "errors": 0})
    with evaluation.warehouse.writing("stage_scores", **cell_keys(cell)) as writer:
        for part in traces.parts():
            carried = carrier.carry(part)
            scoring.note_answered(carried.answered)
            table = join_checks(carried, scoring.score(carried.tasks()))
            tally.add(table)
            numbers.update(row_origins(table))
            numbers["checks"] += len(carried.wanted)
            numbers["errors"] += table["outcome"].to_pylist().count("error")
            writer.write(table)
        scoring.finish()
    judge = {f"judge_{name}": total for name, total in tally.sums.items()}
    return Stored(tally.version, {**numbers, **judge})


def _open_traces(evaluation: Evaluation, suite: Suite, cell: Cell) -> TableReader:
    traces = evaluation.warehouse.open("traces", **cell_keys(cell))
    refuse_other_runs(suite, cell, lambda: traces.tuples("case_id", "repeat"))
    return traces
