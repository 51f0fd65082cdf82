"""`eval-pipeline run`: materialize cells up to their stage reports, and say what failed where."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from eval_pipeline.cli.options import (
    AnyCandidate,
    AnyDataset,
    HowToAsk,
    MaxConcurrency,
    RecordMode,
    RetryErrors,
    SuiteName,
)

if TYPE_CHECKING:
    from eval_pipeline.evaluation import Evaluation
    from eval_pipeline.report.case_reports import CaseReport
    from eval_pipeline.report.stage_report import StageReport
    from eval_pipeline.suites import Cell, Suite

FAILED_CASES = 1
EXAMPLE_QUERY = "select stage, outcome, count(*) from current_stage_scores group by all"


def command(
    suite: SuiteName,
    candidate: AnyCandidate = None,
    dataset: AnyDataset = None,
    record_mode: HowToAsk = RecordMode.none,
    retry_errors: RetryErrors = False,
    max_concurrency: MaxConcurrency = None,
    carry_over: Annotated[
        bool, typer.Option(help="Take rows with equal inputs from earlier results; else run all code again.")
    ] = True,
    strict: Annotated[bool, typer.Option("--strict", help="Exit 1 if any case failed.")] = False,
) -> None:
    """Evaluate a suite's candidates and print their stage reports.

    Exit codes: 0 all measured, 1 a case failed (with --strict), 3 something could not be measured,
    4 a usage or input error, or some calls of a candidate are recorded and others missing. A candidate of
    which nothing is recorded is left out; it is an error only where no candidate is left.
    """
    from rich.console import Console

    from eval_pipeline.assets.materializing import Materializer
    from eval_pipeline.cli.printing import progress, say, say_error
    from eval_pipeline.cli.unfinished import Unfinished
    from eval_pipeline.evaluation import Evaluation
    from eval_pipeline.report.text import print_report

    found = Evaluation(run_id="").suite(suite)
    cells = found.select_cells(candidate, dataset)
    Evaluation(run_id="", mode=record_mode.value).refuse_missing_keys(found, cells)
    reports: list[StageReport] = []
    unfinished = Unfinished()
    opened = Materializer(
        found,
        record_mode.value,
        retry_errors=retry_errors,
        max_concurrency=max_concurrency,
        carry_over=carry_over,
    )
    with opened as materializer:
        for cell in cells:
            noun = "runs" if found.datasets[cell.dataset].repeats > 1 else "cases"
            part = f"{suite} {cell.candidate} on {cell.dataset}"
            with unfinished.noting(part, _record_command(found, cell, dataset)):
                with progress(part, noun) as on_progress:
                    run_id = materializer.materialize(cell, on_progress)
                evaluation = Evaluation(run_id=run_id, mode=record_mode.value)
                reports.append(materializer.reports.get(cell) or evaluation.build_report(cell))
                print_report(reports[-1], Console())
                say()
    _say_failures(found, reports)
    for text in (*unfinished.unrecorded, *unfinished.incomplete, *unfinished.unreachable):
        say_error(f"\n{text}")
    if reports:
        _say_stored(found, evaluation, reports)
    raise typer.Exit(unfinished.exit_code(finished=bool(reports)) or _exit_code(reports, strict))


def _record_command(suite: Suite, cell: Cell, dataset: str | None) -> str:
    """What records all that a candidate lacks of the datasets chosen."""
    on = f" --dataset {shlex.quote(dataset)}" if dataset else ""
    candidate = shlex.quote(suite.candidates[cell.candidate].name)
    return f"eval-pipeline run {suite.name} --candidate {candidate}{on} --record-mode new_episodes"


def _say_stored(suite: Suite, evaluation: Evaluation, reports: Sequence[StageReport]) -> None:
    """Where the rows come from and where they are, and what to look at them with."""
    from eval_pipeline.carry_over.origins import origins_text
    from eval_pipeline.cli.printing import say
    from eval_pipeline.planning.kept_plans import compare_with_plan

    say()
    for name, counts in evaluation.count_origins([report.cell for report in reports]).items():
        say(f"{name:8} {origins_text(counts)}")
    for report in reports:
        if compared := compare_with_plan(evaluation.warehouse, report, suite.recordings):
            say(f"plan     {report.cell.candidate} on {report.cell.dataset}: {compared}")
    say(f"results  {evaluation.warehouse.root}")
    say(f"DuckDB   {evaluation.warehouse.catalogue_path}   eval-pipeline sql '{EXAMPLE_QUERY}'")
    say("UI       make ui   (dagster dev -w workspace.yaml)")
    if evaluation.mode != "all":
        _say_comparable(suite, evaluation, reports)


def _say_failures(suite: Suite, reports: Sequence[StageReport]) -> None:
    """Which case of which candidate failed where, each with the command that shows why."""
    from eval_pipeline.cli.printing import say
    from eval_pipeline.report.inert_text import visible
    from eval_pipeline.report.stage_report import SHOWN_ROWS
    from eval_pipeline.report.table import first_failure_text

    several = len(suite.datasets) > 1
    for report in reports:
        candidate, dataset = suite.candidates[report.cell.candidate], suite.datasets[report.cell.dataset]
        failed: dict[str, list[CaseReport]] = {}
        for row in report.first_rows(SHOWN_ROWS):
            if row.outcome != "passed":
                failed.setdefault(row.trace.case_id, []).append(row)
        counts = Counter(run.case_id for run in report.summary.not_passed)
        say(f"\n{candidate.name} on {dataset.name}: {'what fails where' if failed else 'every case passes'}")
        for case_id, rows in failed.items():
            on = f" --dataset {dataset.name}" if several else ""
            case = shlex.quote(case_id)
            command = f"eval-pipeline explain {suite.name} --candidate {candidate.name}{on} --case {case}"
            where = first_failure_text(rows[0])
            if dataset.repeats > 1:
                where = f"{counts[case_id]} of {dataset.repeats} do not pass, the first at {where}"
                command += f" --repeat {rows[0].trace.repeat}"
            say(f"  {visible(case_id)}: {where}   {command}")
        if len(counts) > len(failed):
            query = "from current_stage_report where outcome <> 'passed'"
            say(f'  … {len(counts) - len(failed):,} more: eval-pipeline sql "{query}"')


def _say_comparable(suite: Suite, evaluation: Evaluation, reports: Sequence[StageReport]) -> None:
    """Candidates that were stored under other keys before, each with the command that compares the two."""
    from eval_pipeline.cli.printing import say
    from eval_pipeline.comparing.stored_keys import previous_cell, stored_cells

    stored = stored_cells(evaluation.shared_warehouse, suite.name)
    since: dict[str, dict[str, None]] = {}
    for report in reports:
        if before := previous_cell(stored, report.cell):
            same = before.candidate == report.cell.candidate
            since.setdefault(report.cell.candidate, {})[before.dataset if same else before.candidate] = None
    for key, before_keys in since.items():
        name = suite.candidates[key].name
        say(f"diff     eval-pipeline diff {suite.name} {name}   (since {', '.join(before_keys)})")


def _exit_code(reports: Sequence[StageReport], strict: bool) -> int:
    from eval_pipeline.cli.unfinished import NOT_MEASURED

    if strict and any(report.summary.not_passed for report in reports):
        return FAILED_CASES
    # What the system itself did wrong is a result; a provider, judge or scorer that failed is none. What a
    # judge that merely advises could not say is missed by nobody.
    totals = [report.summary.totals for report in reports]
    return NOT_MEASURED if any(found.gating_unmeasured or found.faults for found in totals) else 0
