"""Options that several commands share."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

SuiteName = Annotated[str, typer.Argument(help="Name of the suite: a folder of the data root.")]
CandidateName = Annotated[str, typer.Option("--candidate", help="A candidate's name or key.")]
AnyCandidate = Annotated[
    str | None, typer.Option("--candidate", help="A candidate's name or key; left out: all.")
]
AnyDataset = Annotated[str | None, typer.Option("--dataset", help="A dataset's name or key; left out: all.")]


class RecordMode(StrEnum):
    """How models are asked."""

    none = "none"
    new_episodes = "new_episodes"
    all = "all"


HowToAsk = Annotated[
    RecordMode,
    typer.Option(
        "--record-mode",
        help="none: replay. new_episodes: call what is missing. all: fresh samples, kept apart.",
    ),
]
RetryErrors = Annotated[bool, typer.Option("--retry-errors", help="Ask again where a failure is recorded.")]
MaxConcurrency = Annotated[
    int | None,
    typer.Option(
        "--max-concurrency", min=1, help="Calls in flight at once to each model, whatever the suite says."
    ),
]
