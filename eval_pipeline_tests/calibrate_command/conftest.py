"""A suite whose judge is recorded, and the command line over it."""

from __future__ import annotations

import pytest

from eval_pipeline_tests.calibrate_command.judge_replies import sees_postgres
from eval_pipeline_tests.command_line import command_output, evaluate_in
from eval_pipeline_tests.judged_suite import JudgedSuite
from eval_pipeline_tests.scripted_judge import JudgedConnector, saying


@pytest.fixture(scope="package")
def recorded(tmp_path_factory):
    """Everything recorded; with these minimums faithfulness is calibrated, recall (no sound case) is not."""
    folder = tmp_path_factory.mktemp("judged")
    suite = JudgedSuite(folder, more="calibration: {cases: 1}\n")
    connector = JudgedConnector(saying(Verdicts=sees_postgres))
    suite.score("new_episodes", connector)
    suite.calibrate("new_episodes", connector)
    return suite


@pytest.fixture
def cli(recorded, tmp_path, monkeypatch):
    evaluate_in(monkeypatch, recorded.data_root, tmp_path / "warehouse")
    return command_output
