"""`eval-pipeline plan`: what a run would carry over, replay and call, and why, before anything is paid."""

from __future__ import annotations

import shlex
from enum import StrEnum
from typing import Annotated

import typer

from eval_pipeline.cli.options import AnyCandidate, AnyDataset, SuiteName


class Format(StrEnum):
    """How a plan is printed."""

    text = "text"
    json = "json"


def command(
    suite: SuiteName,
    candidate: AnyCandidate = None,
    dataset: AnyDataset = None,
    form: Annotated[Format, typer.Option("--format", help="text or json.")] = Format.text,
) -> None:
    """Say what `run --record-mode new_episodes` would do; nothing is called, and no result is stored.

    What is not carried over is tried on replay. Certain is the first call of each run that misses; those
    after it are estimated by what such runs took before, and so are tokens. Of a text to embed, tokens are a
    quarter of its characters.
    """
    from eval_pipeline.cli.printing import say
    from eval_pipeline.evaluation import Evaluation
    from eval_pipeline.planning.cell_plan import CellPlanner
    from eval_pipeline.planning.kept_plans import keep_plan
    from eval_pipeline.planning.plan_text import calibration_text, plan_json, plan_text, total_text
    from eval_pipeline.planning.planned_rows import PlannedAbove
    from eval_pipeline.planning.typical_calls import TypicalCalls

    evaluation = Evaluation(run_id="")
    found = evaluation.suite(suite)
    typical, above = TypicalCalls.of(found.recordings), PlannedAbove()
    plans = []
    for cell in found.select_cells(candidate, dataset):
        plans.append(CellPlanner(evaluation, found, cell, typical, above).plan())
        keep_plan(evaluation.warehouse, plans[-1])
        if form is Format.text:
            say(plan_text(plans[-1]) + "\n")
    if form is Format.json:
        say(plan_json(plans).rstrip("\n"))
        return
    if later := calibration_text(plans):
        say(later + "\n")
    chosen = {"--candidate": candidate, "--dataset": dataset}
    options = "".join(f" {name} {shlex.quote(value)}" for name, value in chosen.items() if value)
    mode = " --record-mode new_episodes" if any(plan.calls for plan in plans) else ""
    say(total_text(plans, f"eval-pipeline run {suite}{options}{mode}"))
