"""The command line: each command in its own file, importing what it needs when it runs."""

from __future__ import annotations

import sys

import typer
from typer.exceptions import TyperException

from eval_pipeline.cli import (
    ask,
    calibrate,
    check,
    diff,
    explain,
    gate,
    import_report,
    keys,
    plan,
    promote,
    recordings,
    report,
    run,
    sql,
    watch,
)
from eval_pipeline.errors import EvalError

USAGE_ERROR = 4

app = typer.Typer(
    help="Evaluate LLM agents stage by stage; replays offline from recordings.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for module in (
    *(plan, run, watch, report, diff, explain, ask, calibrate),
    *(gate, promote, import_report, keys, check, sql),
):
    app.command(name=module.__name__.rpartition(".")[2].replace("_", "-"))(module.command)
app.add_typer(recordings.app, name="recordings")


def main() -> None:
    """Run a command; our own errors are shown as their text, with exit code 4."""
    try:
        code = app(standalone_mode=False)
    except TyperException as misuse:
        said = misuse.format_message().rstrip(".")  # unlike the text, it names the option
        said = said.replace("Value error, ", "")
        typer.echo(f"error: {said}; --help lists what there is", err=True)
        code = USAGE_ERROR
    except EvalError as error:
        typer.echo(f"error: {error}", err=True)
        code = USAGE_ERROR
    sys.exit(code if isinstance(code, int) else 0)
