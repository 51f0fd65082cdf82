"""A short hash of each recorded response: stored results are checked against it without reading any."""

from __future__ import annotations

import hashlib
from pathlib import Path

from eval_pipeline.recordings.layout import FOLDED, journals, model_folders
from eval_pipeline.recordings.lines import FolderReader
from eval_pipeline.recordings.parsing import parse_line
from eval_pipeline.recordings.quick_lines import (
    TIME_END,
    NotAsWritten,
    id_place,
    is_as_written,
    read_quickly,
)
from eval_pipeline.recordings.shelf import read_lines


def digest_of(line: bytes) -> str:
    """16 digits over an entry, but for which cases asked it and what explains a miss."""
    if not is_as_written(line):
        line = parse_line(line).line()
    return _digest(line, id_place(line))


def read_digests(folder: Path) -> dict[str, str]:
    """The digest of every entry recorded under `folder`, by id.

    Lines are hashed as they stand: one that is broken in the middle is an error only for who reads it.

    Raises:
        RecordingFileError: when a line is no entry at all.
    """
    found: dict[str, str] = {}
    for model_folder in model_folders(folder):
        quick = None if journals(model_folder) else _quickly(model_folder)
        if quick is None:
            lines = read_lines(FolderReader(model_folder))
            quick = {entry_id: digest_of(line) for entry_id, line in lines.items()}
        found |= quick
    return found


def _quickly(folder: Path) -> dict[str, str] | None:
    """The digests of a folder's files, or None where a line has to be looked at."""
    found: dict[str, str] = {}
    count = 0
    try:
        for name in FOLDED.values():
            for entry_id, _, line, id_at in read_quickly(folder / name):
                found[entry_id] = _digest(line, id_at)
                count += 1
    except NotAsWritten:
        return None
    return found if len(found) == count else None  # an id that stands twice is an error


def _digest(line: bytes, id_at: int) -> str:
    """The digest of a line whose id stands at `id_at`; its time counts too, as prices change with it."""
    return hashlib.sha256(line[:TIME_END] + line[id_at:]).hexdigest()[:16]
