"""`import-report`: a stage report as outcomes that can be gated."""

from __future__ import annotations

import json

import pytest

from eval_pipeline.errors import EvalError
from eval_pipeline_tests.gate_command.command_lines import cli
from eval_pipeline_tests.gating.stage_reports import stage_report


def test_a_stage_report_is_imported_and_gated_as_itself(tmp_path):
    report, out = tmp_path / "report.json", tmp_path / "outcomes.json"
    report.write_text(json.dumps(stage_report()))
    code, said = cli("import-report", report, "--out", out)
    assert code == 0
    assert "45 outcomes of docs-assistant@1" in said
    assert "bd96d29ac620e83bdee7cebba2a7aa0d03fbc383c4b1ee5e049093a6d384be73" in said
    # pipe-colors fails faithfulness, which the default policy for such reports calls critical.
    assert cli("gate", report, out)[0] == 1
    assert json.loads(cli("import-report", report)[1]) == json.loads(out.read_text())


def test_outcomes_are_no_stage_report(promoted):
    with pytest.raises(EvalError, match="no stage report; it already holds outcomes"):
        cli("import-report", promoted.suite / "baselines" / "small.json")
