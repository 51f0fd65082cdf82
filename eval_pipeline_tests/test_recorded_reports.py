"""Replaying the committed recordings reproduces the committed reports, byte for byte."""

from __future__ import annotations

import pytest

from eval_pipeline.report.json_form import report_json
from eval_pipeline_tests.replayed import DATA, committed_suite, replayed

COMMITTED = sorted(DATA.glob("*/reports/*.json"))


def test_every_recorded_candidate_has_a_committed_report():
    assert [path.relative_to(DATA).as_posix() for path in COMMITTED] == [
        "docs_assistant/reports/qwen-0.5b.json",
        "docs_assistant/reports/qwen-1.5b-k1.json",
        "docs_assistant/reports/qwen-1.5b.json",
        "support_agent/reports/qwen-1.5b-no-lookup.json",
        "support_agent/reports/qwen-1.5b-warm-no-lookup.json",
        "support_agent/reports/qwen-1.5b-warm.json",
        "support_agent/reports/qwen-1.5b.json",
    ]


@pytest.mark.parametrize("path", COMMITTED, ids=lambda path: path.stem)
def test_replay_reproduces_a_committed_report(path):
    suite = committed_suite(path.parent.parent.name)
    (cell,) = suite.select_cells(path.stem)
    report, _ = replayed(suite.name, cell)
    assert report_json(report) == path.read_text(encoding="utf-8")
