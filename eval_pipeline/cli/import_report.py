"""`eval-pipeline import-report`: a stage report, saved by any tool, as outcomes a gate can take."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def command(
    report: Annotated[Path, typer.Argument(metavar="REPORT.json", help="The stage report.")],
    out: Annotated[Path | None, typer.Option("--out", help="Write the outcomes here.")] = None,
) -> None:
    """Check a stage report and print its outcomes, with the report's digest and its dataset's hash.

    `gate` takes the report itself too; the outcomes are what you commit as a baseline.
    """
    from eval_pipeline.cli.printing import say, write_file
    from eval_pipeline.errors import InputError
    from eval_pipeline.gating.outcome_files import read_outcomes
    from eval_pipeline.gating.own_outcomes import outcomes_text

    outcomes = read_outcomes(report)
    if outcomes.imported is None:
        raise InputError(f"{report}: no stage report; it already holds outcomes")
    text = outcomes_text(outcomes)
    if out is None:
        say(text.rstrip("\n"))
        return
    write_file(out, text)
    say(f"{out}: {len(outcomes.tests)} outcomes of {outcomes.eval.dataset}")
    say(f"digest of the report  {outcomes.imported.digest}")
    say(f"dataset_sha           {outcomes.eval.dataset_sha}")
