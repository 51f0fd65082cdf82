"""A toy suite in a temporary folder, and the same with an accepted run."""

from __future__ import annotations

import pytest

from eval_pipeline_tests.gate_command.command_lines import cli
from eval_pipeline_tests.toy import write_toy


@pytest.fixture
def toy(tmp_path, monkeypatch):
    made = write_toy(tmp_path)
    monkeypatch.setenv("EVAL_DATA", str(made.data))
    monkeypatch.setenv("EVAL_WAREHOUSE", str(tmp_path / "warehouse"))
    monkeypatch.delenv("DAGSTER_HOME", raising=False)
    monkeypatch.delenv("EVAL_RECORD_MODE", raising=False)
    return made


@pytest.fixture
def promoted(toy):
    assert cli("promote", "toy", "--candidate", "calm")[0] == 0
    return toy
