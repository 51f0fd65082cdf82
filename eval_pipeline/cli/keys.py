"""`eval-pipeline keys`: partition keys as the files make them, with the commands that take them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from eval_pipeline.suites import Suite


def command(
    suite: Annotated[str | None, typer.Argument(help="Name of the suite; left out: all.")] = None,
) -> None:
    """Print the partition keys, and ready-to-paste commands for each cell."""
    from eval_pipeline.cli.printing import say
    from eval_pipeline.errors import SuiteError
    from eval_pipeline.settings import data_root
    from eval_pipeline.suite_reading import BrokenSuite, find_suite, find_suites

    suites = find_suites(data_root()) if suite is None else [find_suite(data_root(), suite)]
    if not suites:
        raise SuiteError(f"{data_root()}: no suite found; set EVAL_DATA to the folder that holds suites")
    for found in suites:
        if isinstance(found, BrokenSuite):
            say(f"{found.name}: cannot be read; see eval-pipeline check")
            continue
        say(found.name)
        say("  candidates")
        for key in found.candidates:
            say(f"    {key}")
        say("  datasets")
        for key in found.datasets:
            say(f"    {key}")
        judges = list(found.judges) if found.calibration else []
        if judges:
            say("  judges")
        for key in judges:
            say(f"    {key}{_unrecorded(found, key)}")
        say("  commands")
        for dataset in found.datasets:
            say(f"    {_materialize(found.name, ['cases', 'documents'], dataset)}")
        for candidate in found.candidates:
            say(f"    {_materialize(found.name, ['prompts'], candidate)}")
        for key in judges:
            say(f"    {_materialize(found.name, ['calibration'], key)}")
        for cell in found.cells:
            names = ["traces", "stage_scores", "stage_report"]
            say(f"    {_materialize(found.name, names, cell.partition)}")


def _unrecorded(suite: Suite, key: str) -> str:
    """What nothing is recorded of: a judge, or its calibration."""
    from eval_pipeline.calibration_runs import CALIBRATION_LABEL
    from eval_pipeline.recordings import read_entries

    model = suite.judges[key].model.name
    labels = {
        entry.label
        for entry in read_entries(suite.recordings)
        if entry.role == "judge" and entry.model == model
    }
    if not labels:
        return "   (not recorded)"
    if not any(label.startswith(CALIBRATION_LABEL) for label in labels):
        return "   (calibration not recorded)"
    return ""


def _materialize(suite: str, assets: list[str], partition: str) -> str:
    select = ",".join(f"{suite}/{asset}" for asset in assets)
    command = "dagster asset materialize -m eval_pipeline.definitions"
    return f"{command} --select '{select}' --partition '{partition}'"
