"""A toy suite in a temporary folder, and the same with an accepted run."""

from __future__ import annotations

import pytest

from eval_pipeline_tests.command_line import evaluate_in
from eval_pipeline_tests.gate_command.command_lines import cli
from eval_pipeline_tests.toy import write_toy


@pytest.fixture
def toy(tmp_path, monkeypatch):
    made = write_toy(tmp_path)
    evaluate_in(monkeypatch, made.data, tmp_path / "warehouse")
    return made


@pytest.fixture
def promoted(toy):
    assert cli("promote", "toy", "--candidate", "calm")[0] == 0
    return toy
