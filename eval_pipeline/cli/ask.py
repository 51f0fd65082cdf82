"""`eval-pipeline ask`: one question to a candidate, outside any dataset."""

from __future__ import annotations

from typing import Annotated

import typer

from eval_pipeline.cli.options import AnyDataset, CandidateName, SuiteName


def command(
    suite: SuiteName,
    candidate: CandidateName,
    question: Annotated[str, typer.Argument(help="The question in words.")],
    dataset: AnyDataset = None,
) -> None:
    """Ask a candidate something and print the trace.

    A question that is recorded is answered from the recording; another one asks the model, and is not
    recorded.
    """
    from eval_pipeline.adhoc import ask_once
    from eval_pipeline.cli.printing import say
    from eval_pipeline.evaluation import Evaluation
    from eval_pipeline.explanation import trace_text

    evaluation = Evaluation(run_id="")
    found = evaluation.suite(suite)
    cell = found.select_cells(candidate, dataset)[0]
    trace = ask_once(found, cell, question)
    say(trace_text(trace, expected=frozenset()))
    if trace.error is not None:
        raise typer.Exit(1 if trace.error.source == "system" else 3)
