"""Options that several commands share."""

from __future__ import annotations

from typing import Annotated

import typer

SuiteName = Annotated[str, typer.Argument(help="Name of the suite: a folder of the data root.")]
CandidateName = Annotated[str, typer.Option("--candidate", help="A candidate's name or key.")]
AnyCandidate = Annotated[
    str | None, typer.Option("--candidate", help="A candidate's name or key; left out: all.")
]
AnyDataset = Annotated[str | None, typer.Option("--dataset", help="A dataset's name or key; left out: all.")]
