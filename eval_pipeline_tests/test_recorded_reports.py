"""Replaying the committed recordings reproduces the committed reports, byte for byte."""

from __future__ import annotations

from pathlib import Path

import pytest

from eval_pipeline.agent_runs import run_cell
from eval_pipeline.event_loop import run_async
from eval_pipeline.recordings import Recordings
from eval_pipeline.report.json_form import report_json
from eval_pipeline.report.stage_report import build_report
from eval_pipeline.stages import score_traces
from eval_pipeline.suite_reading import read_suite

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
    checks = run_async(score_traces(suite, cell, traces))
    assert report_json(build_report(suite, cell, traces, checks)) == path.read_text(encoding="utf-8")
