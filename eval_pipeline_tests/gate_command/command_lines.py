"""Command lines as they are typed, run in this process."""

from __future__ import annotations

from eval_pipeline_tests.command_line import command_output


def cli(*arguments):
    """One command line; `(exit code, stdout)`."""
    return command_output(*arguments)[:2]


def gate(*arguments):
    return cli("gate", "toy", "--candidate", *arguments)
