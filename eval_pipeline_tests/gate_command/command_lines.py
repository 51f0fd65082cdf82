"""Command lines as they are typed, run in this process."""

from __future__ import annotations

from typer.testing import CliRunner

from eval_pipeline.cli import app


def cli(*arguments):
    """One command line; `(exit code, stdout)`."""
    result = CliRunner().invoke(app, list(map(str, arguments)))
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, result.stdout


def gate(*arguments):
    return cli("gate", "toy", "--candidate", *arguments)
