"""`eval-pipeline report`: a stored stage report, as text, Markdown or JSON."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from eval_pipeline.cli.options import AnyDataset, CandidateName, SuiteName


class Format(StrEnum):
    """How a report is written."""

    text = "text"
    md = "md"
    json = "json"


def command(
    suite: SuiteName,
    candidate: CandidateName,
    dataset: AnyDataset = None,
    format: Annotated[Format, typer.Option(help="How it is written.")] = Format.text,
) -> None:
    """Print the stored stage report of a candidate."""
    from eval_pipeline.cli.printing import say
    from eval_pipeline.evaluation import Evaluation
    from eval_pipeline.report.json_form import report_json
    from eval_pipeline.report.markdown import report_markdown
    from eval_pipeline.report.text import report_text

    evaluation = Evaluation(run_id="")
    render = {Format.text: report_text, Format.md: report_markdown, Format.json: report_json}[format]
    for cell in evaluation.suite(suite).select_cells(candidate, dataset):
        say(render(evaluation.build_report(cell)).rstrip("\n"))
