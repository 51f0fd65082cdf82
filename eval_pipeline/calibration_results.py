"""A judge's calibration as a step of an evaluation: run, stored, and read back as its record."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from eval_pipeline.calibration import CalibrationScore, Minimums
from eval_pipeline.calibration_reading import CALIBRATION_FILE
from eval_pipeline.calibration_runs import (
    Calibrated,
    calibrate,
    calibrate_command,
    calibrated_stages,
    calibration_recorded,
)
from eval_pipeline.calibration_summary import MetricCalibration, calibration_numbers, summarise_calibration
from eval_pipeline.carry_over.calibrations import forget, note, stands
from eval_pipeline.errors import NotStoredError, RecordingMisses, SuiteError
from eval_pipeline.gating.outcomes import JudgeRecord
from eval_pipeline.judges import Judge
from eval_pipeline.recordings import Recordings
from eval_pipeline.stored import NotRecordedError, Stored, fresh
from eval_pipeline.suites import Cell, Suite
from eval_pipeline.warehouse.calibration_rows import calibration_from, calibration_table
from eval_pipeline.warehouse.store import Warehouse
from eval_pipeline.warehouse.table_content import stored_content

if TYPE_CHECKING:
    from eval_pipeline.evaluation import Evaluation


def store_calibration(evaluation: Evaluation, suite_name: str, key: str) -> Stored:
    """One row a calibration case, metric and repeat: what a judge says of answers whose defect is known.

    Raises:
        NotRecordedError: in mode `none`, when nothing is recorded.
        RecordingMisses: in mode `none`, when something is missing.
    """
    suite = evaluation.suite(suite_name)
    judge = fresh(suite.judges, key)
    if suite.calibration is None:
        raise SuiteError(f"suite {suite.name!r} has no calibration cases; write {CALIBRATION_FILE}")
    warehouse = evaluation.warehouse
    if stands(warehouse, suite, judge, evaluation.digest_reader(suite)):
        table = warehouse.read("calibration", suite=suite.name, judge=key)
        scores = calibration_from(table)
    else:
        made = _calibrate(evaluation, suite, judge)
        scores, table = made.scores, calibration_table(made.scores)
        forget(warehouse, suite, judge)
        warehouse.write("calibration", table, suite=suite.name, judge=key)
        note(warehouse, suite, judge, made)
    found = summarise_calibration(scores, suite.calibration.minimums)
    return Stored(stored_content(table), calibration_numbers(found))


def calibration_at_hand(evaluation: Evaluation, suite: Suite, judge: Judge) -> bool:
    """Whether a judge's calibration is stored as it would come out now, or the recordings hold all of it."""
    if stands(evaluation.warehouse, suite, judge, evaluation.digest_reader(suite)):
        return True
    return calibration_recorded(suite, judge)


def _calibrate(evaluation: Evaluation, suite: Suite, judge: Judge) -> Calibrated:
    opened: list[Recordings] = []

    def open_recordings() -> Recordings:
        opened.append(evaluation.open_recordings(suite))
        return opened[-1]

    try:
        return calibrate(
            suite,
            judge,
            open_recordings,
            connector=evaluation.connector,
            calls=evaluation.calls,
            on_progress=evaluation.on_progress,
        )
    except RecordingMisses as missing:
        if any(recordings.used for recordings in opened):
            raise
        raise NotRecordedError(
            f"{suite.name}: the calibration of judge {suite.calibration_key(judge)} is not recorded",
            calibrate_command(suite, judge),
        ) from missing


def read_calibration_scores(warehouse: Warehouse, suite: Suite, key: str) -> list[CalibrationScore]:
    """What a judge said of each calibration case.

    Raises:
        NotStoredError: when that is not stored, or was scored by stages that were declared otherwise: neither
            thresholds nor how strict a scorer is are part of the key.
    """
    scores = calibration_from(warehouse.read("calibration", suite=suite.name, judge=key))
    declared = {(metric, stage.threshold) for metric, stage in calibrated_stages(suite).items()}
    if {(score.metric, score.threshold) for score in scores} != declared:
        command = f"eval-pipeline calibrate {suite.name}"
        raise NotStoredError(
            f"the stored calibration of {key} has other thresholds or stages; run: {command}"
        )
    return scores


def read_calibration(warehouse: Warehouse, suite: Suite, key: str) -> Mapping[str, MetricCalibration]:
    """How a judge did on the suite's calibration cases, by metric.

    Raises:
        NotStoredError: when that is not stored.
    """
    minimums = Minimums() if suite.calibration is None else suite.calibration.minimums
    return summarise_calibration(read_calibration_scores(warehouse, suite, key), minimums)


def read_records(warehouse: Warehouse, suite: Suite, cell: Cell) -> Mapping[str, JudgeRecord]:
    """The record of a cell's judge by stage; none where it was never calibrated."""
    judge = suite.judge_of(cell.candidate)
    if judge is None:
        return {}
    try:
        found = read_calibration(warehouse, suite, suite.calibration_key(judge))
    except NotStoredError:
        return {}
    return {stage.name: found[stage.name].record for stage in suite.stages if stage.name in found}
