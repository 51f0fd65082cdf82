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


def previous_key(stored: Sequence[StoredCell], after: str) -> str | None:
    """The other key of the same candidate name that was stored last; None where there is none."""
    keys = (found.cell.candidate for found in stored)
    return next((key for key in keys if key != after and key_name(key) == key_name(after)), None)


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
            compared with the key that this candidate was stored under before.
        dataset: a dataset's name or key; left out: every dataset that both sides are stored on.

    Raises:
        SuiteError: for a name or key that neither the files nor the warehouse know.
        NotStoredError: when a side is not stored, with the command that stores it.
    """
    after = _candidate(suite, stored, names[-1])
    before = _candidate(suite, stored, names[0]) if len(names) > 1 else _previous(suite, stored, after)
    if before == after:
        raise SuiteError(
            f"{before} and {after} are the same candidate; name two, or one alone to compare it with the key "
            "it was stored under before"
        )
    wanted = None if dataset is None else _dataset(suite, stored, dataset)
    pairs = list(_pairs(suite, stored, before, after, wanted))
    if not pairs:
        missing = next((key for key in (after, before) if not _stored_on(stored, key)), after)
        raise NotStoredError(_not_stored(suite, missing, wanted))
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


def _previous(suite: Suite, stored: Sequence[StoredCell], after: str) -> str:
    before = previous_key(stored, after)
    if before is None:
        name = key_name(after)
        raise NotStoredError(
            f"candidate {name!r} of suite {suite.name!r} is stored under no other key than {after}: run it "
            f"before and after an edit, or compare two: eval-pipeline diff {suite.name} BEFORE AFTER"
        )
    return before


def _pairs(
    suite: Suite, stored: Sequence[StoredCell], before: str, after: str, wanted: str | None
) -> Iterator[tuple[Cell, Cell]]:
    """The later side's datasets, each with the earlier side's same one, or its latest of the same name."""
    earlier, later = _stored_on(stored, before), _stored_on(stored, after)
    declared = [key for key in suite.datasets if key in later]
    names = dict.fromkeys(key_name(key) for key in (*declared, *later))
    for name in names:
        dataset = wanted or next(key for key in (*declared, *later) if key_name(key) == name)
        if key_name(dataset) != name or dataset not in later:
            continue
        match = [key for key in earlier if key == dataset] or _named(earlier, name)
        if match:
            yield Cell(suite.name, before, match[0]), Cell(suite.name, after, dataset)


def _stored_on(stored: Sequence[StoredCell], candidate: str) -> list[str]:
    return [found.cell.dataset for found in stored if found.cell.candidate == candidate]


def _named(keys: Iterable[str], name: str) -> list[str]:
    return [key for key in keys if key_name(key) == name]


def _not_stored(suite: Suite, candidate: str, dataset: str | None) -> str:
    on = "" if dataset is None else f" on {dataset}"
    names = f"--candidate {key_name(candidate)}"
    if dataset is not None:
        names += f" --dataset {key_name(dataset)}"
    return f"nothing stored of {candidate}{on}; run: eval-pipeline run {suite.name} {names}"
