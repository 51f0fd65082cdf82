"""Command lines run in this process, on a folder of suites and a warehouse of a test's own."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from eval_pipeline.cli import app


def evaluate_in(monkeypatch: pytest.MonkeyPatch, data: Path, warehouse: Path) -> None:
    """Have commands and assets read `data` and write `warehouse`, whatever the caller's environment says."""
    monkeypatch.setenv("EVAL_DATA", str(data))
    monkeypatch.setenv("EVAL_WAREHOUSE", str(warehouse))
    monkeypatch.delenv("DAGSTER_HOME", raising=False)
    monkeypatch.delenv("EVAL_RECORD_MODE", raising=False)


def run_command(*arguments: object) -> Result:
    """What one command line says, and its exit code; what it raises but for that is raised."""
    result = CliRunner().invoke(app, list(map(str, arguments)))
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


def command_output(*arguments: object) -> tuple[int, str, str]:
    """The exit code of one command line, its output and its messages."""
    result = run_command(*arguments)
    return result.exit_code, result.stdout, result.stderr
