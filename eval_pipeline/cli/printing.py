"""How commands print: model text is never markup, and progress is plain lines outside a terminal."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from eval_pipeline.errors import EvalError

if TYPE_CHECKING:
    from eval_pipeline.agent_runs import Progress


SECONDS_BETWEEN_LINES = 2.0


def say(text: str = "") -> None:
    """Print a result."""
    typer.echo(text)


def say_error(text: str) -> None:
    """Print what is no result: warnings, what is missing, progress."""
    typer.echo(text, err=True)


def write_file(path: Path, text: str) -> None:
    """Write a file that the user asked for, its folder included.

    Raises:
        EvalError: when it cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as failure:
        raise EvalError(f"{path}: cannot be written: {failure.strerror}") from failure


@contextlib.contextmanager
def progress(label: str, noun: str = "cases") -> Iterator[Progress]:
    """A bar on a terminal; elsewhere a line now and then, and one at the end, that counts `noun`."""
    if sys.stderr.isatty():
        with _bar(label) as tell:
            yield tell
    else:
        yield _lines(label, noun)


@contextlib.contextmanager
def _bar(label: str) -> Iterator[Progress]:
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(escape(label), total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def _lines(label: str, noun: str) -> Progress:
    next_line = 0.0

    def tell(done: int, total: int) -> None:
        nonlocal next_line
        now = time.monotonic()
        if now >= next_line or done == total:
            next_line = now + SECONDS_BETWEEN_LINES
            say_error(f"{label}: {done}/{total} {noun}")

    return tell
