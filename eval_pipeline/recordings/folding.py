"""Folds the journals in a model's folder into its sorted files."""

from __future__ import annotations

import fcntl
from collections.abc import Collection, Iterable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from eval_pipeline.errors import RecordingFileError
from eval_pipeline.recordings.entry import Entry
from eval_pipeline.recordings.layout import FOLDED, LOCK, journals
from eval_pipeline.recordings.lines import FolderReader
from eval_pipeline.recordings.parsing import parse_line
from eval_pipeline.recordings.sorted_files import Placed, SortedFiles
from eval_pipeline.whole_files import replace_file


@dataclass(frozen=True)
class Folded:
    """What a model's sorted files hold after a fold."""

    lines: dict[str, bytes]
    """By entry id; of large files those alone that were folded, or are asked for."""
    dropped: int
    """How many entries were there before and were not kept."""


class _New(NamedTuple):
    """A line of a journal."""

    entry: Entry
    line: bytes
    is_own: bool
    """Whether this process recorded it."""


def fold(
    folder: Path,
    *,
    own: Path | None = None,
    cases: Mapping[str, Collection[str]] | None = None,
    replacing: Collection[str] = (),
    keep: Collection[str] | None = None,
    asked: Collection[str] = (),
) -> Folded:
    """Merge `own` journal, and those whose writer is gone, into the sorted files of `folder`.

    The first response folded for an id stays. A file whose content stays the same isn't touched.

    Args:
        folder: One model's folder.
        own: The journal that this process holds.
        cases: Entry id to further cases that asked it.
        replacing: Ids whose recorded failure `own` asked again, and therefore replaces.
        keep: Where given, the only entry ids to keep.
        asked: Ids whose lines are wanted back, also of large files.

    Raises:
        RecordingFileError: when any of the files can't be read, and nothing was changed; or when they
            can't be written, and the journals are kept.
    """
    with ExitStack() as held:
        _lock_folder(folder, held)
        done = [path for path in journals(folder) if path == own or _lock_abandoned(path, held)]
        reader = FolderReader(folder)
        large = SortedFiles.open(folder) if keep is None else None
        if large is not None:
            reader.model = large.model
        placed = _read_all(folder, reader) if large is None else {}
        new = [_New(*found, path == own) for path in done for found in reader.read(path, abandoned=True)]
        if large is not None:
            placed = large.find({*(found.entry.id for found in new), *(cases or ()), *asked})
        _merge(placed, new, cases or {}, replacing)
        kept = placed if keep is None else {key: value for key, value in placed.items() if key in keep}
        for left in folder.glob("*.tmp"):  # of a fold that was killed: we hold the folder's lock
            left.unlink()
        if large is None:
            _write_files(folder, kept)
        else:
            for path, parts in large.with_lines(kept):
                _replace_file(path, parts)
        for path in done:
            path.unlink()
    return Folded({key: line for key, (_, line) in kept.items()}, len(placed) - len(kept))


def _merge(
    placed: dict[str, Placed],
    new: Iterable[_New],
    cases: Mapping[str, Collection[str]],
    replacing: Collection[str],
) -> None:
    """Take new lines and further cases into lines that are there."""
    for entry, line, is_own in new:
        again = entry.id in replacing if is_own else entry.failure is None
        before = placed.get(entry.id)
        stays = (entry, line) if before is None else settle(before[1], entry, line, asked_again=again)
        placed[entry.id] = (stays[0].place, stays[1])
    for entry_id, more in cases.items():
        if entry_id in placed:
            entry, line = with_cases(placed[entry_id][1], more)
            placed[entry_id] = (entry.place, line)


def _read_all(folder: Path, reader: FolderReader) -> dict[str, Placed]:
    return {
        entry.id: (entry.place, line)
        for name in FOLDED.values()
        for entry, line in reader.read(folder / name)
    }


def settle(before: bytes, entry: Entry, line: bytes, *, asked_again: bool) -> tuple[Entry, bytes]:
    """The one of two entries with the same id that stays, with the cases of both.

    Args:
        before: The line recorded first.
        entry: The one recorded later.
        line: Its line.
        asked_again: Whether `entry` may take the place of a failure.
    """
    first = parse_line(before)
    if first.failure is not None and asked_again:
        return with_cases(line, first.cases)
    return with_cases(before, entry.cases)


def with_cases(line: bytes, cases: Collection[str]) -> tuple[Entry, bytes]:
    """The entry of `line` with `cases` added, and its line: the same bytes where that adds none."""
    entry = parse_line(line)
    if entry.cases == (union := tuple(sorted({*entry.cases, *cases}))):
        return entry, line
    entry = replace(entry, cases=union)
    return entry, entry.line()


def _lock_folder(folder: Path, held: ExitStack) -> None:
    try:
        lock = held.enter_context((folder / LOCK).open("ab"))
    except OSError as error:
        raise RecordingFileError(
            f"{folder}: no recording can be written here ({error.strerror}); make the folder writable"
        ) from error
    fcntl.flock(lock, fcntl.LOCK_EX)


def _lock_abandoned(journal: Path, held: ExitStack) -> bool:
    # Locked until it is unlinked, so that a writer who just created it sees that it is gone.
    file = held.enter_context(journal.open("rb"))
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _write_files(folder: Path, placed: Mapping[str, Placed]) -> None:
    ordered = sorted(placed.values())
    for kind, name in FOLDED.items():
        content = b"".join(line + b"\n" for place, line in ordered if place[3] == kind)
        path = folder / name
        if not content:
            path.unlink(missing_ok=True)
        elif not path.exists() or path.read_bytes() != content:
            _replace_file(path, content)


def _replace_file(path: Path, content: bytes | Iterable[bytes]) -> None:
    try:
        replace_file(path, content)
    except OSError as error:
        raise RecordingFileError(
            f"{path}: could not be written ({error.strerror}); make room and record again: "
            "the new calls are kept in the journals beside it"
        ) from error
