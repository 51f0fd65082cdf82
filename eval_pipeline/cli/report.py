"""`eval-pipeline report`: a stored stage report, as text, Markdown, JSON, JUnit XML or outcomes."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from eval_pipeline.cli.options import AnyDataset, CandidateName, SuiteName


class Format(StrEnum):
    """How a report is written; `md` is short for `markdown`."""

    text = "text"
    markdown = "markdown"
    md = "md"
    json = "json"
    junit = "junit"
    outcomes = "outcomes"


def command(
    suite: SuiteName,
    candidate: CandidateName,
    dataset: AnyDataset = None,
    format: Annotated[Format, typer.Option(help="How it is written.")] = Format.text,
    by_case: Annotated[
        bool, typer.Option("--by-case", help="A block for each case in place of the table.")
    ] = False,
) -> None:
    """Print the stored stage report of a candidate; as outcomes, it is a file that `gate` takes."""
    from eval_pipeline.cli.printing import say
    from eval_pipeline.errors import SuiteError
    from eval_pipeline.evaluation import Evaluation
    from eval_pipeline.gating.own_outcomes import outcomes_text
    from eval_pipeline.report.case_blocks import blocks_markdown, blocks_text
    from eval_pipeline.report.json_form import report_json
    from eval_pipeline.report.junit import report_junit
    from eval_pipeline.report.markdown import report_markdown
    from eval_pipeline.report.text import report_text

    evaluation = Evaluation(run_id="")
    cells = evaluation.suite(suite).select_cells(candidate, dataset)
    if format is Format.outcomes:
        if len(cells) > 1:
            raise SuiteError(f"candidate {candidate!r} has several datasets; name one with --dataset")
        say(outcomes_text(evaluation.build_outcomes(cells[0])).rstrip("\n"))
        return
    markdown = blocks_markdown if by_case else report_markdown
    render = {
        Format.text: blocks_text if by_case else report_text,
        Format.markdown: markdown,
        Format.md: markdown,
        Format.json: report_json,
        Format.junit: report_junit,
    }[format]
    for cell in cells:
        say(render(evaluation.build_report(cell)).rstrip("\n"))
