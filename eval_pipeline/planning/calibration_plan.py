"""What calibrating a cell's judge would take, which a run never pays for by itself."""

from __future__ import annotations

from dataclasses import dataclass

from eval_pipeline.calibration_results import read_records
from eval_pipeline.calibration_runs import calibrate, calibrate_command
from eval_pipeline.errors import RecordingMisses
from eval_pipeline.planning.typical_calls import CallEstimate, Chats, TypicalCalls
from eval_pipeline.recordings import Recordings
from eval_pipeline.suites import Cell, Suite
from eval_pipeline.warehouse.store import Warehouse


@dataclass(frozen=True)
class CalibrationPlan:
    """A judge that is not calibrated as it is declared now: until it is, its stages only advise."""

    key: str
    """Of the calibration."""
    missing: int
    """Verdicts that are not recorded, one for each case, metric and repeat."""
    calls: CallEstimate
    command: str
    """What makes these calls."""


def plan_calibration(
    warehouse: Warehouse, suite: Suite, cell: Cell, typical: TypicalCalls
) -> CalibrationPlan | None:
    """What is missing of the calibration of a cell's judge; None where nothing is, or nobody asks for one."""
    judge = suite.judge_of(cell.candidate)
    if judge is None or suite.calibration is None or read_records(warehouse, suite, cell):
        return None
    try:
        calibrate(suite, judge, lambda: Recordings(suite.recordings, in_use=suite.in_use))
    except RecordingMisses as missing:
        # Variants of a metric share its questions, which are recorded under its own, shorter, name.
        by_length = sorted(missing.misses, key=lambda miss: -len(miss.call.label))
        asked = {miss.call.entry_id: miss for miss in by_length}
        name, server, chats = judge.model.name, judge.model.base_url, Chats()
        for miss in asked.values():
            typically = typical.chats("judge", miss.call.label, miss.case_id, name, miss.call.like)
            chats.add(max(1.0, typically.calls - miss.call.chats_before), typically)
        calls = typical.estimate(name, "judge", chats, server, at_least=len(asked))
        command = calibrate_command(suite, judge)
        return CalibrationPlan(suite.calibration_key(judge), len(missing.misses), calls, command)
    return None
