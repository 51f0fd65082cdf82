"""`eval-pipeline explain`: one case step by step, with each score's reason."""

from __future__ import annotations

from typing import Annotated

import typer

from eval_pipeline.cli.options import AnyDataset, SuiteName


def command(
    suite: SuiteName,
    case: Annotated[str, typer.Option("--case", help="Id of the case.")],
    candidate: Annotated[str | None, typer.Option("--candidate", help="A candidate's name or key.")] = None,
    dataset: AnyDataset = None,
    repeat: Annotated[
        int | None, typer.Option("--repeat", min=0, help="One of its repeats, from 0; left out: all.")
    ] = None,
    judge: Annotated[
        str | None,
        typer.Option("--judge", help="Instead: a judge's model or key, for a calibration case."),
    ] = None,
) -> None:
    """Show what the system did on a case and what each stage says of it; of a calibration case, the judge.

    Reads the stored results; where there are none it replays the case, and says what differs when the
    recordings do not answer it.
    """
    from eval_pipeline.calibration_explanation import explain_calibration_case
    from eval_pipeline.cli.printing import say
    from eval_pipeline.errors import SuiteError
    from eval_pipeline.evaluation import Evaluation
    from eval_pipeline.explanation import explain_case

    evaluation = Evaluation(run_id="")
    found = evaluation.suite(suite)
    if (candidate is None) == (judge is None):
        raise SuiteError("give --candidate for a case of a dataset, or --judge for a calibration case")
    for key in found.select_judges(judge) if judge else ():
        say(explain_calibration_case(evaluation, found, key, case))
    if candidate is None:
        return
    for cell in found.select_cells(candidate, dataset):
        say(explain_case(evaluation, found, cell, case, repeat))
