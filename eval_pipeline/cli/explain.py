"""`eval-pipeline explain`: one case step by step, with each score's reason."""

from __future__ import annotations

from typing import Annotated

import typer

from eval_pipeline.cli.options import AnyDataset, CandidateName, SuiteName


def command(
    suite: SuiteName,
    candidate: CandidateName,
    case: Annotated[str, typer.Option("--case", help="Id of the case.")],
    dataset: AnyDataset = None,
) -> None:
    """Show what the system did on a case and what each stage says of it.

    Reads the stored results; where there are none it replays the case, and says what differs when the
    recordings do not answer it.
    """
    from eval_pipeline.cli.printing import say
    from eval_pipeline.evaluation import Evaluation
    from eval_pipeline.explanation import explain_case

    evaluation = Evaluation(run_id="")
    found = evaluation.suite(suite)
    for cell in found.select_cells(candidate, dataset):
        say(explain_case(evaluation, found, cell, case))
