"""Large sorted files, of which a few lines are replaced or added: nothing is held but where lines begin."""

from __future__ import annotations

import bisect
import errno
import io
from array import array
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import BinaryIO

from eval_pipeline.recordings.layout import FOLDED, slug
from eval_pipeline.recordings.line_index import is_large
from eval_pipeline.recordings.quick_lines import (
    NotAsWritten,
    QuickLine,
    id_place,
    model_and_place,
    read_quickly,
)
from eval_pipeline.recordings.request import Kind

Place = tuple[str, str, str, str, str]
Placed = tuple[Place, bytes]
"""Where an entry stands in its file, and its line."""
_COPIED = 1 << 20


class SortedFiles:
    """The files of one model's folder, each line as we write it and in its place."""

    def __init__(self, folder: Path) -> None:
        """Look through them; `find` looks again.

        Raises:
            ValueError: when they have to be read strictly.
        """
        self._files = {kind: _SortedFile(folder / name, kind) for kind, name in FOLDED.items()}
        models = set[str]().union(*(file.models for file in self._files.values()))
        if [slug(model) for model in models] != [folder.name]:
            raise NotAsWritten(folder.name)
        self.model = models.pop()
        ids = set[int]()
        for file in self._files.values():
            if not ids.isdisjoint(file.ids):
                raise NotAsWritten(folder.name)
            ids |= file.ids

    @classmethod
    def open(cls, folder: Path) -> SortedFiles | None:
        """The files of a folder; None where they are small, or have to be read strictly."""
        try:
            return cls(folder) if is_large(folder) else None
        except (ValueError, OSError):
            return None

    def find(self, ids: Collection[str]) -> dict[str, Placed]:
        """The lines of these entries, by id, as far as there are any."""
        return {entry_id: placed for file in self._files.values() for entry_id, placed in file.find(ids)}

    def with_lines(self, lines: Mapping[str, Placed]) -> Iterator[tuple[Path, Iterator[bytes]]]:
        """The content of each file that is not as it should be, in parts.

        Args:
            lines: what is to stand there, by id: all that `find` gave, changed or not, and what is new.
        """
        for kind, file in self._files.items():
            wanted = {key: placed for key, placed in lines.items() if placed[0][3] == kind}
            if file.lacks(wanted):
                yield file.path, file.parts(wanted)


class _SortedFile:
    def __init__(self, path: Path, kind: Kind) -> None:
        self.path = path
        self.models: set[str] = set()
        self.ids: set[int] = set()
        """Hashes of the ids."""
        self._starts = array("Q", [0])
        """Where each line begins, and the last one ends."""
        self._found: dict[str, tuple[int, bytes]] = {}
        """Number and line of what was looked for."""
        last: Place | None = None
        for found in read_quickly(path):
            model, place = model_and_place(found)
            if place[3] != kind or (last is not None and place <= last) or hash(found.id) in self.ids:
                raise NotAsWritten(found.id)
            self.models.add(model)
            self.ids.add(hash(found.id))
            self._starts.append(found.offset + len(found.line) + 1)
            last = place

    def find(self, ids: Collection[str]) -> Iterator[tuple[str, Placed]]:
        """The lines of these entries."""
        for number, found in enumerate(read_quickly(self.path)):
            if found.id in ids:
                self._found[found.id] = (number, found.line)
                yield found.id, (model_and_place(found)[1], found.line)

    def lacks(self, wanted: Mapping[str, Placed]) -> bool:
        """Whether any of these lines does not stand there."""
        return any(self._line(entry_id) != line for entry_id, (_, line) in wanted.items())

    def parts(self, wanted: Mapping[str, Placed]) -> Iterator[bytes]:
        """The content with these lines in their places."""
        changed = {key: placed for key, placed in wanted.items() if self._line(key) != placed[1]}
        gone = {self._found[key][0] for key in changed if key in self._found}
        with self.path.open("rb") if self.path.exists() else io.BytesIO() as file:
            before: dict[int, list[bytes]] = {}
            for place, line in sorted(changed.values()):
                number = bisect.bisect_left(
                    range(len(self._starts) - 1), place, key=lambda number: self._place(file, number)
                )
                before.setdefault(number, []).append(line)
            at = 0
            for number in sorted({*before, *gone}):
                yield from self._copied(file, at, number)
                yield from (line + b"\n" for line in before.get(number, ()))
                at = number + (number in gone)
            yield from self._copied(file, at, len(self._starts) - 1)

    def _line(self, entry_id: str) -> bytes | None:
        return self._found[entry_id][1] if entry_id in self._found else None

    def _place(self, file: BinaryIO, number: int) -> Place:
        start = self._starts[number]
        file.seek(start)
        line = file.read(self._starts[number + 1] - start - 1)
        return model_and_place(QuickLine("", start, line, id_place(line)))[1]

    def _copied(self, file: BinaryIO, first: int, last: int) -> Iterator[bytes]:
        left = self._starts[last] - self._starts[first]
        file.seek(self._starts[first])
        while left:
            part = file.read(min(left, _COPIED))
            if not part:
                raise OSError(errno.EIO, "it became shorter while it was read")
            left -= len(part)
            yield part
