"""Replaying the committed recordings reproduces the committed reports, byte for byte."""

from __future__ import annotations

from pathlib import Path

import pytest

from eval_pipeline.agent_runs import run_cell
from eval_pipeline.calibration_runs import calibrate, calibration_recorded
from eval_pipeline.calibration_summary import summarise_calibration
from eval_pipeline.gating.outcomes import JudgeRecord
from eval_pipeline.judge_runs import score_cell
from eval_pipeline.recordings import Recordings
from eval_pipeline.report.json_form import report_json
from eval_pipeline.report.stage_report import build_report
from eval_pipeline.suite_reading import read_suite
from eval_pipeline.suites import Cell, Suite

DATA = Path(__file__).parent.parent / "data"
COMMITTED = sorted(DATA.glob("*/reports/*.json"))


def test_every_recorded_candidate_has_a_committed_report():
    assert [path.relative_to(DATA).as_posix() for path in COMMITTED] == [
        "docs_assistant/reports/qwen-0.5b.json",
        "docs_assistant/reports/qwen-1.5b-k1.json",
        "docs_assistant/reports/qwen-1.5b.json",
    ]


@pytest.mark.parametrize("path", COMMITTED, ids=lambda path: path.stem)
def test_replay_reproduces_a_committed_report(path):
    suite = read_suite(path.parent.parent)
    (cell,) = suite.select_cells(path.stem)
    traces = run_cell(suite, cell, lambda: Recordings(suite.recordings))
    records = replayed_records(suite, cell)
    checks = score_cell(suite, cell, traces, lambda: Recordings(suite.recordings), records=records)
    assert report_json(build_report(suite, cell, traces, checks, records)) == path.read_text(encoding="utf-8")


def replayed_records(suite: Suite, cell: Cell) -> dict[str, JudgeRecord]:
    """The record of the cell's judge, where its calibration is recorded."""
    judge = suite.judge_of(cell.candidate)
    if judge is None or suite.calibration is None or not calibration_recorded(suite, judge):
        return {}
    scores = calibrate(suite, judge, lambda: Recordings(suite.recordings))
    found = summarise_calibration(scores, suite.calibration.minimums)
    return {stage.name: found[stage.name].record for stage in suite.stages if stage.name in found}
