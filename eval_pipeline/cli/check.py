"""`eval-pipeline check`: is every suite's every file usable?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from eval_pipeline.suites import Suite


def command(
    suite: Annotated[str | None, typer.Argument(help="Name of the suite; left out: all.")] = None,
) -> None:
    """Check suites, datasets, documents, recordings, policies and baselines; exit 1 if any is unusable.

    Recorded calls that no declared candidate uses are listed too; `recordings prune` removes them.
    """
    from eval_pipeline.cli.printing import say
    from eval_pipeline.errors import SuiteError
    from eval_pipeline.settings import data_root
    from eval_pipeline.suite_reading import BrokenSuite, find_suites

    suites = [found for found in find_suites(data_root()) if suite in (None, found.name)]
    if not suites:
        wanted = "suite" if suite is None else f"suite {suite!r}"
        raise SuiteError(f"{data_root()}: no {wanted} found; set EVAL_DATA to the folder that holds suites")
    broken = 0
    for found in suites:
        problems = (
            list(found.error.problems)
            if isinstance(found, BrokenSuite)
            else [*_recording_problems(found), *_gate_problems(found)]
        )
        broken += bool(problems)
        say(f"{found.name}: {'ok' if not problems else 'cannot be used'}")
        for problem in problems:
            say(f"  {problem}")
        if not isinstance(found, BrokenSuite) and not problems:
            _say_use(found)
    raise typer.Exit(1 if broken else 0)


def _recording_problems(suite: Suite) -> list[str]:
    from eval_pipeline.recordings import check_recordings

    return check_recordings(suite.recordings)


def _gate_problems(suite: Suite) -> list[str]:
    from eval_pipeline.baselines import baseline_problems
    from eval_pipeline.errors import InputError
    from eval_pipeline.gate_results import refuse_unused_names

    problems = baseline_problems(suite)
    try:
        refuse_unused_names(suite)
    except InputError as error:
        problems += error.problems
    return problems


def _say_use(suite: Suite) -> None:
    """What the recordings hold beside, or less than, what the declared candidates ask."""
    from eval_pipeline.calibration_summary import too_few_calibration_cases
    from eval_pipeline.cli.printing import say
    from eval_pipeline.recordings import read_entries
    from eval_pipeline.recordings_use import replay_all

    for text in too_few_calibration_cases(suite):
        say(f"  {text}")
    use = replay_all(suite)
    for name in use.unrecorded:
        say(f"  not recorded: candidate {name}")
    for text in use.unrecorded_judges:
        say(f"  not recorded: {text}")
    for text in use.missing:
        say(f"  incomplete: {text}")
    orphans = [entry for entry in read_entries(suite.recordings) if entry.id not in use.used]
    for entry in orphans:
        say(f"  orphaned: {entry.model} {entry.id[:12]} ({', '.join(entry.cases)}): {entry.words!r}")
    if orphans:
        remedy = f"eval-pipeline recordings prune {suite.name}"
        say(f"  {len(orphans)} recorded calls are used by no candidate: {remedy}")
