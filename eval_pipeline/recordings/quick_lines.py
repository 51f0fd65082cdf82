"""Reads the lines of a sorted file without parsing them: a fraction of the time, for large recordings.

Only lines as we write them are read so. What stands before a line's id then holds nothing that looks like
one, and its model and role are found likewise; anything else is left to the strict reader.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, cast, get_args

from eval_pipeline.recordings.request import Role

_BEGIN = b'{"at": "'
TIME_END = len(_BEGIN) + len("2026-01-31T12:00:00Z")
_THEN = b'", "cases": ['
_ID = b'"id": "'
_MODEL = b'"model": "'
_ROLE = b'"role": "'
_FIRST_CASE = re.compile(rb'"(?:[^"\\]|\\.)*"')
_ID_KIND_LABEL = re.compile(rb'"id": ("[^"\\]*"), "kind": ("[a-z]+"), "label": ("(?:[^"\\]|\\.)*"), ')


class NotAsWritten(ValueError):
    """A line that has to be read strictly."""


class QuickLine(NamedTuple):
    """One line, taken apart as far as needed."""

    id: str
    offset: int
    """Of its first byte in the file."""
    line: bytes
    """Without its newline."""
    id_at: int
    """Where its id stands in it."""


def is_as_written(line: bytes) -> bool:
    """Whether a line begins as ours do."""
    return line.startswith(_BEGIN) and line.startswith(_THEN, TIME_END) and _ID in line


def id_place(line: bytes) -> int:
    """Where the id stands in a line that is as written."""
    return line.index(_ID)


def read_quickly(path: Path) -> Iterator[QuickLine]:
    """Every line of a file; none where there is no file.

    Raises:
        NotAsWritten: at the first line that is not as written, or torn.
    """
    if not path.exists():
        return
    offset = 0
    with path.open("rb") as file:
        for line in file:
            if not (line.endswith(b"\n") and is_as_written(line)):
                raise NotAsWritten(path.name)
            id_at = line.index(_ID)
            begin = id_at + len(_ID)
            entry_id = line[begin : line.index(b'"', begin)].decode("ascii", "replace")
            yield QuickLine(entry_id, offset, line[:-1], id_at)
            offset += len(line)


def model_and_role(found: QuickLine) -> tuple[str, Role]:
    """Whose answer a line holds, and who asked.

    Raises:
        NotAsWritten: when it does not say so where our lines do.
    """
    line = found.line
    # Between id and model stand no objects; after the role, which follows the response, none with such a key.
    model_at, role_at = line.find(_MODEL, found.id_at), line.rfind(_ROLE)
    if model_at < 0 or role_at < 0:
        raise NotAsWritten(found.id)
    role = _text_at(line, role_at + len(_ROLE))
    if role not in get_args(Role):  # another field's, which stands after it
        raise NotAsWritten(found.id)
    return _text_at(line, model_at + len(_MODEL)), cast("Role", role)


def model_and_place(found: QuickLine) -> tuple[str, tuple[str, str, str, str, str]]:
    """Whose answer a line holds, and where it stands in its file, as `Entry.place`.

    Raises:
        NotAsWritten: when it does not say so where our lines do.
    """
    line = found.line
    case = _FIRST_CASE.match(line, TIME_END + len(_THEN))
    rest = _ID_KIND_LABEL.match(line, found.id_at)
    if case is None or rest is None:
        raise NotAsWritten(found.id)
    entry_id, kind, label = map(_text, rest.groups())
    model, role = model_and_role(found)
    return model, (_text(case[0]), role, label, kind, entry_id)


def _text(written: bytes) -> str:
    """A JSON string's text."""
    text: str = json.loads(written) if b"\\" in written else written[1:-1].decode()
    return text


def _text_at(line: bytes, begin: int) -> str:
    end = line.index(b'"', begin)
    if b"\\" in line[begin:end]:
        raise NotAsWritten
    return line[begin:end].decode("utf-8", "replace")
