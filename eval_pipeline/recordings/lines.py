"""Reads the files of one model's folder, line by line and strictly."""

from __future__ import annotations

import fcntl
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from eval_pipeline.errors import RecordingFileError
from eval_pipeline.recordings.entry import Entry
from eval_pipeline.recordings.layout import FOLDED, slug
from eval_pipeline.recordings.parsing import BrokenLine, parse_line
from eval_pipeline.recordings.request import Kind, Role


class TornJournalWarning(UserWarning):
    """The last line of a dead writer's journal was dropped: it broke off before anyone used it."""


@dataclass(frozen=True)
class Broken:
    """One line that is no entry, as told to people."""

    text: str
    """Place, what is wrong, and the remedy."""
    torn: bool = False
    """Whether it is the file's last line, cut off before its newline."""


class FolderReader:
    """Reads one model's folder; the first entry read settles which model that is."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.model: str | None = None
        self.roles: set[Role] = set()

    def scan(self, path: Path) -> Iterator[tuple[Entry, bytes] | Broken]:
        """Every line of `path` in order, as its entry and bytes or as what is wrong with it.

        A file that isn't there has no lines: a journal may vanish while it is about to be read.
        """
        seen: set[str] = set()
        kind = next((kind for kind, name in FOLDED.items() if name == path.name), None)
        try:
            file = path.open("rb")
        except FileNotFoundError:
            return
        except OSError as error:
            yield Broken(f"{path}: can't be read ({error.strerror}); make it a readable file")
            return
        with file:
            for number, line in enumerate(file, start=1):
                if not line.endswith(b"\n"):
                    # Reading on could meet the rest of a line that is being written just now.
                    yield Broken(
                        f"{path}:{number}: the last line is torn ({len(line)} bytes without a newline); "
                        "restore the file with git, or delete the line and record again",
                        torn=True,
                    )
                    return
                try:
                    entry = parse_line(line[:-1])
                    self._check_home(entry, kind, seen)
                except BrokenLine as error:
                    yield Broken(f"{path}:{number}: {error}")
                else:
                    yield entry, line[:-1]

    def read(self, path: Path, *, abandoned: bool = False) -> Iterator[tuple[Entry, bytes]]:
        """Every entry of `path` with the bytes of its line.

        Args:
            path: A file in the folder.
            abandoned: Whether it is known to be a journal that nobody writes any more; else its
                lock tells.

        Warns:
            TornJournalWarning: when a journal's last line was cut off with its writer.

        Raises:
            RecordingFileError: at the first line that is no entry, naming file and line.
        """
        for found in self.scan(path):
            if not isinstance(found, Broken):
                yield found
            elif not found.torn or path.name in FOLDED.values():
                raise RecordingFileError(found.text)
            elif abandoned or not writer_lives(path):
                warnings.warn(
                    f"{path}: dropped its last line, which broke off while it was written; "
                    "no run has used it, and the next recording asks again",
                    TornJournalWarning,
                    stacklevel=2,
                )

    def _check_home(self, entry: Entry, kind: Kind | None, seen: set[str]) -> None:
        if self.model is None and slug(entry.model) == self.folder.name:
            self.model = entry.model
        if entry.model != self.model:
            holds = (
                f"recordings of {self.model!r}" if self.model else f"the model with slug {self.folder.name!r}"
            )
            raise BrokenLine(
                f"model {entry.model!r} in a folder that holds {holds}",
                "restore the file with git, or rename one of the models and record it again",
            )
        if kind is not None and entry.kind != kind:
            raise BrokenLine(f"a {entry.kind!r} entry, which belongs in {FOLDED[entry.kind]}")
        if entry.id in seen:
            raise BrokenLine(f"duplicate id {entry.id!r}", "delete one of the two lines")
        seen.add(entry.id)
        self.roles.add(entry.role)


def writer_lives(journal: Path) -> bool:
    """Whether a running process still holds `journal`."""
    try:
        file = journal.open("rb")
    except FileNotFoundError:
        return False
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False
