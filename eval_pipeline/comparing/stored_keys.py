"""Which two stored cells a comparison means, when people give names, keys, or one name alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from eval_pipeline.errors import NotStoredError, SuiteError
from eval_pipeline.suggestions import did_you_mean
from eval_pipeline.suites import Cell, Suite, key_name, slug
from eval_pipeline.warehouse.catalogue_queries import quote
from eval_pipeline.warehouse.store import Warehouse


@dataclass(frozen=True)
class StoredCell:
    """A cell that has a stored report."""

    cell: Cell
    at: datetime | None
    """When a run last stored it; None where no run says so."""


def stored_cells(warehouse: Warehouse, suite: str) -> tuple[StoredCell, ...]:
    """The cells of a suite that have a stored report, the latest first."""
    try:
        rows = warehouse.query(
            "SELECT candidate, dataset, (SELECT max(stored_at) FROM runs WHERE runs.suite = stored.suite "
            "AND runs.candidate = stored.candidate AND runs.dataset = stored.dataset) AS stored_at "
            "FROM (SELECT DISTINCT suite, candidate, dataset FROM stage_report "
            f"WHERE suite = {quote(suite)}) AS stored ORDER BY stored_at DESC NULLS LAST, candidate, dataset"
        )
    except NotStoredError:
        return ()
    return tuple(
        StoredCell(Cell(suite, row["candidate"], row["dataset"]), row["stored_at"])
        for row in rows.to_pylist()
    )


def previous_cell(stored: Sequence[StoredCell], after: Cell) -> Cell | None:
    """The other cell of the same candidate and dataset, by name, that was stored last; None without any."""
    return last_stored([found for found in stored if found.cell != after], after)


def last_stored(stored: Sequence[StoredCell], cell: Cell) -> Cell | None:
    """The cell of the same candidate and dataset, by name, that was stored last, which may be this one."""
    names = key_name(cell.candidate), key_name(cell.dataset)
    alike = (
        found.cell
        for found in stored
        if (key_name(found.cell.candidate), key_name(found.cell.dataset)) == names
    )
    return next(alike, None)


def find_pairs(
    suite: Suite,
    stored: Sequence[StoredCell],
    names: tuple[str, str] | tuple[str],
    dataset: str | None = None,
) -> list[tuple[Cell, Cell]]:
    """The cells to compare, one pair a dataset.

    Args:
        suite: the suite as its files say now.
        stored: what the warehouse holds of it, the latest first.
        names: the candidates before and after, each by name or key; or the one after alone, which is then
            compared with what this candidate was stored under before: another key of its own or of the
            dataset.
        dataset: a dataset's name or key; left out: every dataset that both sides are stored on.

    Raises:
        SuiteError: for a name or key that neither the files nor the warehouse know.
        NotStoredError: when a side is not stored, with the command that stores it.
    """
    after = _candidate(suite, stored, names[-1])
    wanted = None if dataset is None else _dataset(suite, stored, dataset)
    if len(names) == 1:
        return _pairs_since(suite, stored, after, wanted)
    before = _candidate(suite, stored, names[0])
    if before == after:
        raise SuiteError(
            f"{before} and {after} are the same candidate; name two, or one alone to compare it with the key "
            "it was stored under before"
        )
    pairs = list(_pairs(suite, stored, before, after, wanted))
    if not pairs:
        missing = next((key for key in (after, before) if not _stored_on(stored, key)), after)
        raise NotStoredError(_not_stored(suite, stored, missing, wanted))
    return pairs


def _candidate(suite: Suite, stored: Sequence[StoredCell], name: str) -> str:
    """The key that a name or key means: a declared one first, else the latest stored one."""
    known = dict.fromkeys([*suite.candidates, *(found.cell.candidate for found in stored)])
    return _key(name, list(known), f"suite {suite.name!r} has no candidate {name!r}, declared or stored")


def _dataset(suite: Suite, stored: Sequence[StoredCell], name: str) -> str:
    known = dict.fromkeys([*suite.datasets, *(found.cell.dataset for found in stored)])
    return _key(name, list(known), f"suite {suite.name!r} has no dataset {name!r}, declared or stored")


def _key(name: str, known: Sequence[str], refusal: str) -> str:
    if name in known:
        return name
    starts = [key for key in known if "@" in name and key.startswith(name)]
    if len(starts) > 1:
        raise SuiteError(f"{name!r} begins several keys: {', '.join(starts)}; give more of it")
    named = starts or [key for key in known if key_name(key) == slug(name)]
    if not named:
        raise SuiteError(f"{refusal}{did_you_mean(name, [*known, *map(key_name, known)])}")
    return named[0]


def _pairs_since(
    suite: Suite, stored: Sequence[StoredCell], after: str, wanted: str | None
) -> list[tuple[Cell, Cell]]:
    """Each dataset of a candidate with what was stored under these names before."""
    later = [
        Cell(suite.name, after, key) for key in _latest_datasets(suite, _stored_on(stored, after), wanted)
    ]
    if not later:
        raise NotStoredError(_not_stored(suite, stored, after, wanted))
    pairs = [(before, cell) for cell in later if (before := previous_cell(stored, cell)) is not None]
    if not pairs:
        on = "" if wanted is None else f" on {wanted}"
        raise NotStoredError(
            f"candidate {key_name(after)!r} of suite {suite.name!r} is stored under no other key than "
            f"{after}{on}: run it before and after an edit of its model, prompt, parameters or dataset, or "
            f"compare two: eval-pipeline diff {suite.name} BEFORE AFTER. Stages, scorers and the system's "
            "code are in no key: a run after an edit of these takes the place of the one before, and "
            f"`eval-pipeline watch {suite.name} --once` runs and compares with that"
        )
    return pairs


def _pairs(
    suite: Suite, stored: Sequence[StoredCell], before: str, after: str, wanted: str | None
) -> Iterator[tuple[Cell, Cell]]:
    """The later side's datasets, each with the earlier side's same one, or its latest of the same name."""
    earlier, later = _stored_on(stored, before), _stored_on(stored, after)
    for dataset in _latest_datasets(suite, later, wanted):
        match = [key for key in earlier if key == dataset] or _named(earlier, key_name(dataset))
        if match:
            yield Cell(suite.name, before, match[0]), Cell(suite.name, after, dataset)


def _latest_datasets(suite: Suite, stored: Sequence[str], wanted: str | None) -> list[str]:
    """Of the datasets that are stored, the wanted one; else of each name the declared or the latest one."""
    if wanted is not None:
        return [key for key in stored if key == wanted]
    by_name: dict[str, str] = {}
    for key in (*(key for key in suite.datasets if key in stored), *stored):
        by_name.setdefault(key_name(key), key)
    return list(by_name.values())


def _stored_on(stored: Sequence[StoredCell], candidate: str) -> list[str]:
    return [found.cell.dataset for found in stored if found.cell.candidate == candidate]


def _named(keys: Iterable[str], name: str) -> list[str]:
    return [key for key in keys if key_name(key) == name]


def _not_stored(suite: Suite, stored: Sequence[StoredCell], candidate: str, dataset: str | None) -> str:
    on = "" if dataset is None else f" on {dataset}"
    names = f"--candidate {key_name(candidate)}"
    if dataset is not None:
        names += f" --dataset {key_name(dataset)}"
    earlier = _named((found.cell.candidate for found in stored), key_name(candidate))
    known = "" if not earlier or earlier[0] == candidate else f" (its last stored key is {earlier[0]})"
    return (
        f"nothing is stored of {candidate}{on}{known}; run: eval-pipeline run {suite.name} {names}, with "
        "--record-mode new_episodes where what it asks is not recorded yet"
    )
