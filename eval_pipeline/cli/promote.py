"""`eval-pipeline promote`: make a candidate's run the accepted one of its dataset."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from eval_pipeline.cli.options import AnyDataset, CandidateName, SuiteName

if TYPE_CHECKING:
    from eval_pipeline.baselines import Promotion

NOT_MEASURED = 3


def command(
    suite: SuiteName,
    candidate: CandidateName,
    dataset: AnyDataset = None,
    allow_unmeasured: Annotated[
        bool, typer.Option("--allow-unmeasured", help="Also where gating tests have no verdict.")
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would change; write nothing.")
    ] = False,
) -> None:
    """Replay a candidate and write its outcomes as its dataset's baseline, showing what changes.

    The file, `data/<suite>/baselines/<dataset>.json`, is yours to review and commit. Exits 3 when tests
    that gate were not measured.
    """
    from eval_pipeline.assets.materializing import Materializer
    from eval_pipeline.baselines import UnmeasuredRunError, plan_promotion
    from eval_pipeline.cli.printing import progress, say, say_error
    from eval_pipeline.evaluation import Evaluation
    from eval_pipeline.gate_results import read_cell_outcomes

    evaluation = Evaluation(run_id="")
    found = evaluation.suite(suite)
    refused = False
    with Materializer(found) as materializer:
        for cell in found.select_cells(candidate, dataset):
            with progress(f"{suite} {cell.candidate} on {cell.dataset}") as on_progress:
                materializer.materialize(cell, on_progress)
            outcomes = read_cell_outcomes(evaluation, cell)
            try:
                plan = plan_promotion(found, cell.dataset, outcomes, allow_unmeasured=allow_unmeasured)
            except UnmeasuredRunError as refusal:
                say_error(f"error: {refusal}")
                refused = True
                continue
            if not dry_run:
                plan.write()
            say(_described(plan, written=not dry_run))
    raise typer.Exit(NOT_MEASURED if refused else 0)


def _described(plan: Promotion, *, written: bool) -> str:
    from eval_pipeline.report.inert_text import visible

    before, now = plan.rates
    if plan.new:
        verb = "new baseline" if written else "would be a new baseline"
    else:
        verb = "baseline rewritten" if written else "would be rewritten"
    lines = [
        f"{plan.path}: {verb}",
        f"  gating tests passed: {'' if before is None else f'{before} → '}{now}",
    ]
    if plan.unmeasured:
        lines.append(f"  not measured: {plan.unmeasured}; no regression will show there")
    lines += [f"  {change.component}: {change.baseline} → {change.candidate}" for change in plan.changes]
    lines += [f"  {test}" for test in plan.tests]
    if not plan.new and not plan.changes and not plan.tests:
        lines.append("  nothing of what a gate compares changes")
    return "\n".join(visible(line) for line in lines)
