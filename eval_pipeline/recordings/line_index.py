"""The lines of a model's large files, found by id and read when they are asked for."""

from __future__ import annotations

import mmap
from collections.abc import Iterator, MutableMapping
from pathlib import Path

from eval_pipeline.recordings.layout import FOLDED, journals, slug
from eval_pipeline.recordings.quick_lines import NotAsWritten, model_and_role, read_quickly
from eval_pipeline.recordings.request import Role

LARGE = 2_000_000
"""Bytes of a model's files from which on they are not read whole."""


class LineIndex(MutableMapping[str, bytes]):
    """Lines by id, in files that stay as they are while they are open; new ones are kept beside."""

    def __init__(self) -> None:
        self.models: set[str] = set()
        self.roles: set[Role] = set()
        self._files: list[mmap.mmap] = []
        self._places: dict[str, tuple[int, int, int]] = {}
        """File, offset and length of each line."""
        self._new: dict[str, bytes] = {}

    def add_file(self, path: Path) -> None:
        """Take the lines of a file in.

        Raises:
            NotAsWritten: when one has to be read strictly, or an id stands twice.
        """
        if not path.exists() or not path.stat().st_size:
            return
        number = len(self._files)
        with path.open("rb") as file:
            self._files.append(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
        for found in read_quickly(path):
            if found.id in self._places:
                raise NotAsWritten(found.id)
            self._places[found.id] = (number, found.offset, len(found.line))
            model, role = model_and_role(found)
            self.models.add(model)
            self.roles.add(role)

    def __getitem__(self, entry_id: str) -> bytes:
        """The line of an entry."""
        if (new := self._new.get(entry_id)) is not None:
            return new
        number, offset, length = self._places[entry_id]
        return self._files[number][offset : offset + length]

    def __setitem__(self, entry_id: str, line: bytes) -> None:
        """A line that is not in the files."""
        self._new[entry_id] = line

    def __delitem__(self, entry_id: str) -> None:
        """Lines are never taken out."""
        raise NotImplementedError

    def __iter__(self) -> Iterator[str]:
        """Ids."""
        yield from self._places
        yield from (entry_id for entry_id in self._new if entry_id not in self._places)

    def __len__(self) -> int:
        """How many lines."""
        return len(self._places) + sum(entry_id not in self._places for entry_id in self._new)

    def __contains__(self, entry_id: object) -> bool:
        """Whether there is a line of that id."""
        return entry_id in self._new or entry_id in self._places


def is_large(folder: Path) -> bool:
    """Whether the files of a model's folder are so large that only the lines asked for are read."""
    paths = [folder / name for name in FOLDED.values()]
    return sum(path.stat().st_size for path in paths if path.exists()) >= LARGE


def index_lines(folder: Path) -> LineIndex | None:
    """The index of a model's folder; None where it is small, or has to be read strictly."""
    if not is_large(folder) or journals(folder):
        return None
    index = LineIndex()
    try:
        for name in FOLDED.values():
            index.add_file(folder / name)
    except (NotAsWritten, ValueError, OSError):
        return None
    return index if [slug(model) for model in index.models] == [folder.name] else None
