"""A committed suite's cells replayed from its recordings, once for all the tests that ask for them."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from eval_pipeline.agent_runs import run_cell
from eval_pipeline.calibration_runs import calibrate, calibration_recorded
from eval_pipeline.calibration_summary import summarise_calibration
from eval_pipeline.cell_outcomes import cell_outcomes
from eval_pipeline.cell_scoring import score_cell
from eval_pipeline.gating.outcomes import JudgeRecord, Outcomes
from eval_pipeline.recordings import Recordings
from eval_pipeline.report.stage_report import StageReport, build_report
from eval_pipeline.suite_reading import read_suite
from eval_pipeline.suites import Cell, Suite

DATA = Path(__file__).parent.parent / "data"


@cache
def committed_suite(name: str) -> Suite:
    """A suite of this repository."""
    return read_suite(DATA / name)


@cache
def replayed(suite_name: str, cell: Cell) -> tuple[StageReport, Outcomes]:
    """The report and the outcomes of a cell, judged where its judge is recorded."""
    suite = committed_suite(suite_name)
    traces = run_cell(suite, cell, lambda: Recordings(suite.recordings))
    records = replayed_records(suite, cell)
    checks = score_cell(suite, cell, traces, lambda: Recordings(suite.recordings), records=records)
    report = build_report(suite, cell, traces, checks, records)
    return report, cell_outcomes(suite, report)


def replayed_records(suite: Suite, cell: Cell) -> dict[str, JudgeRecord]:
    """The record of the cell's judge, where its calibration is recorded."""
    judge = suite.judge_of(cell.candidate)
    if judge is None or suite.calibration is None or not calibration_recorded(suite, judge):
        return {}
    scores = calibrate(suite, judge, lambda: Recordings(suite.recordings)).scores
    found = summarise_calibration(scores, suite.calibration.minimums)
    return {stage.name: found[stage.name].record for stage in suite.stages if stage.name in found}
