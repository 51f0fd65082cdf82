"""`eval-pipeline diff`: two stored configurations side by side, or one and what it was before an edit."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from eval_pipeline.cli.options import SuiteName

if TYPE_CHECKING:
    from eval_pipeline.comparing.comparison import Comparison
    from eval_pipeline.comparing.sides import Side
    from eval_pipeline.report.comparison_blocks import Block
    from eval_pipeline.suites import Suite


class Format(StrEnum):
    """How a comparison is written; `md`, as `report` has it, is short for `markdown`."""

    text = "text"
    markdown = "markdown"
    md = "md"
    json = "json"


def command(
    suite: SuiteName,
    names: Annotated[
        list[str],
        typer.Argument(metavar="[BEFORE] AFTER", help="Candidates, each by name or key; one or two."),
    ],
    dataset: Annotated[
        str | None, typer.Option("--dataset", help="A dataset's name or key; left out: all.")
    ] = None,
    case: Annotated[str | None, typer.Option("--case", help="Id of one case, to see in full.")] = None,
    all_cases: Annotated[
        bool, typer.Option("--all-cases", help="In JSON list the cases that are unchanged too.")
    ] = False,
    format: Annotated[Format, typer.Option(help="How it is written.")] = Format.text,
) -> None:
    """Show what got worse and better between two stored candidates, and what changed in between.

    With one candidate: since the key it was stored under before, so after an edit: run it, then diff it.
    Keys that the files no longer make are read from the warehouse.
    """
    from rich.console import Console

    from eval_pipeline.cli.printing import say
    from eval_pipeline.comparing.comparison import compare
    from eval_pipeline.comparing.stored_keys import find_pairs, stored_cells
    from eval_pipeline.comparing.stored_sides import read_side
    from eval_pipeline.errors import InputError
    from eval_pipeline.evaluation import Evaluation
    from eval_pipeline.report.comparison_json import comparisons_json
    from eval_pipeline.report.comparison_markdown import blocks_markdown
    from eval_pipeline.report.comparison_text import print_blocks

    evaluation = Evaluation(run_id="")
    found, warehouse = evaluation.suite(suite), evaluation.shared_warehouse
    if len(names) > 2:
        raise InputError(f"diff compares two candidates, and {len(names)} are named: {', '.join(names)}")
    wanted = (names[0],) if len(names) == 1 else (names[0], names[1])
    pairs = find_pairs(found, stored_cells(warehouse, suite), wanted, dataset)
    sides = [
        (read_side(warehouse, found, before), read_side(warehouse, found, after)) for before, after in pairs
    ]
    for before, after in sides:
        if before.cell.dataset == after.cell.dataset:  # else what changed in it is part of what is compared
            _say_outdated(found, before)
        _say_outdated(found, after)
    comparisons = [compare(before, after) for before, after in sides]
    if case is not None:
        comparisons = _with_case(comparisons, case)
    if format is Format.json:
        say(comparisons_json(suite, comparisons, case, all_cases=all_cases).rstrip("\n"))
        return
    for place, comparison in enumerate(comparisons):
        blocks = _blocks(comparison, case)
        if place:
            say()
        if format is Format.text:
            print_blocks(blocks, Console())
        else:
            say(blocks_markdown(blocks).rstrip("\n"))


def _say_outdated(suite: Suite, side: Side) -> None:
    """A side of a declared candidate whose files moved on after it was stored."""
    from eval_pipeline.cli.printing import say_error
    from eval_pipeline.comparing.stored_sides import outdated
    from eval_pipeline.suites import key_name

    if changed := outdated(suite, side):
        names = f"--candidate {key_name(side.cell.candidate)} --dataset {key_name(side.cell.dataset)}"
        say_error(
            f"note: {side.cell.candidate} on {side.cell.dataset} is stored from before a change of "
            f"{', '.join(changed)}; run: eval-pipeline run {suite.name} {names}"
        )


def _with_case(comparisons: list[Comparison], case_id: str) -> list[Comparison]:
    from eval_pipeline.errors import CaseError
    from eval_pipeline.suggestions import did_you_mean

    common = {case.case_id for comparison in comparisons for case in comparison.cases}
    if case_id not in common:
        raise CaseError(f"no case {case_id!r} on both sides{did_you_mean(case_id, common)}")
    return [found for found in comparisons if case_id in {case.case_id for case in found.cases}]


def _blocks(comparison: Comparison, case_id: str | None) -> list[Block]:
    from eval_pipeline.report.comparison_blocks import case_comparison_blocks, comparison_blocks

    return comparison_blocks(comparison) if case_id is None else case_comparison_blocks(comparison, case_id)
