"""Stored results must be those of the declared runs: another number of repeats is no reason to guess."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import zip_longest

from eval_pipeline.errors import NotStoredError
from eval_pipeline.suites import Cell, Suite, key_name

SHOWN_NAMES = 5
"""Names that a refusal lists of each kind."""


def refuse_other_runs(suite: Suite, cell: Cell, read_keys: Callable[[], Iterable[tuple[str, int]]]) -> None:
    """Refuse traces that are not one for each case and repeat that the files declare now.

    Args:
        suite: declares cases and repeats.
        cell: whose traces they are.
        read_keys: gives case id and repeat of each trace, as often as it is called.

    Raises:
        NotStoredError: with what is missing or surplus, and the command that runs the cell again.
    """
    dataset = suite.datasets[cell.dataset]
    if all(run == key for run, key in zip_longest(dataset.run_keys, read_keys())):
        return  # as nearly always, and without holding them all
    declared, traced = set(dataset.run_keys), set(read_keys())
    refuse_stored(
        cell,
        {
            "runs without a trace": run_names(declared - traced),
            "traces of no run": run_names(traced - declared),
        },
    )


def refuse_stored(cell: Cell, problems: Mapping[str, Sequence[str]]) -> None:
    """Refuse what is stored for a cell if there is any problem, each with the names it concerns.

    Raises:
        NotStoredError: with the command that runs the cell again.
    """
    found = [f"{what}: {_shortened(names)}" for what, names in problems.items() if names]
    if found:
        names = f"--candidate {key_name(cell.candidate)} --dataset {key_name(cell.dataset)}"
        raise NotStoredError(
            f"{cell.suite} {cell.partition}: what is stored is not what the suite declares "
            f"({'; '.join(found)}); run: eval-pipeline run {cell.suite} {names}"
        )


def run_names(runs: Collection[tuple[str, int]]) -> list[str]:
    """Runs in words, sorted: a case's id, and its repeat unless that is the first."""
    return [case_id + (f" repeat {repeat}" if repeat else "") for case_id, repeat in sorted(runs)]


def _shortened(names: Sequence[str]) -> str:
    more = f" and {len(names) - SHOWN_NAMES} more" if len(names) > SHOWN_NAMES else ""
    return ", ".join(names[:SHOWN_NAMES]) + more
