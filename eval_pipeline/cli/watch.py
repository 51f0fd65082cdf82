"""`eval-pipeline watch`: plan and run a suite again whenever its files, its system or its scorers change."""

from __future__ import annotations

import sys
from enum import StrEnum
from typing import Annotated

import typer

from eval_pipeline.cli.options import AnyCandidate, AnyDataset, SuiteName

INTERRUPTED = 130
NOT_RUN = 3


class WatchMode(StrEnum):
    """How a watched suite's models are asked; fresh samples are nothing to repeat after each edit."""

    none = "none"
    new_episodes = "new_episodes"


def command(
    suite: SuiteName,
    candidate: AnyCandidate = None,
    dataset: AnyDataset = None,
    record_mode: Annotated[
        WatchMode,
        typer.Option(help="none: plan, and run what replays. new_episodes: also call what is missing."),
    ] = WatchMode.none,
    once: Annotated[bool, typer.Option("--once", help="Plan, run and compare once, and end.")] = False,
) -> None:
    """Plan, run and compare with what was stored before: now, and again after each change of a file.

    Watched are the suite's folder and the modules of its system and scorers. Nothing is called unless
    --record-mode says so. What is broken prints its error, and the next change is waited for. Ctrl-C ends it.

    Exit codes: with --once 0 all run, 3 something waits for a call or could not be run, 4 a usage or input
    error; else 130 when ended.
    """
    if once:
        from eval_pipeline.cli.watch_turn import make_turn

        if not make_turn(suite, candidate, dataset, record_mode.value):
            raise typer.Exit(NOT_RUN)
        return
    from eval_pipeline.cli.printing import say, say_error
    from eval_pipeline.settings import data_root
    from eval_pipeline.watching.loop import watch_files
    from eval_pipeline.watching.watched_files import WatchedFiles

    files = WatchedFiles(data_root() / suite)
    turn = [
        sys.executable,
        "-m",
        "eval_pipeline",
        "watch",
        suite,
        "--once",
        "--record-mode",
        record_mode.value,
    ]
    for name, value in (("--candidate", candidate), ("--dataset", dataset)):
        turn += [f"{name}={value}"] if value is not None else []
    try:
        watch_files(files, turn, say, records=record_mode is WatchMode.new_episodes)
    except KeyboardInterrupt:
        say_error("ended")
        raise typer.Exit(INTERRUPTED) from None
