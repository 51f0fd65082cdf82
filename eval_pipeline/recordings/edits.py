"""Recorded answers that somebody edited: another response under a key that a git revision has too."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from eval_pipeline.errors import EvalError, RecordingFileError
from eval_pipeline.recordings.entry import Entry
from eval_pipeline.recordings.layout import FOLDED, model_folders
from eval_pipeline.recordings.parsing import BrokenLine, parse_line


@dataclass(frozen=True)
class EditedAnswer:
    """One recorded call whose response is another than in the revision."""

    path: Path
    before: Entry
    after: Entry


def edited_answers(folder: Path, revision: str) -> list[EditedAnswer]:
    """The answers under `folder` that differ from those of a git revision under the same keys.

    A recording made anew has the same key and may well answer otherwise: whoever reviews must know either
    way. Keys that only one side has are no edits.

    Raises:
        EvalError: when git cannot read the revision.
        RecordingFileError: when a line of either side is no entry.
    """
    _git(folder, "rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}")
    edited = []
    for path in (model / name for model in model_folders(folder) for name in FOLDED.values()):
        earlier = _committed(path, revision)
        if earlier is None or not path.exists():
            continue
        before = {entry.id: entry for entry in _entries(earlier, f"{revision}:{path}")}
        for entry in _entries(path.read_bytes(), str(path)):
            known = before.get(entry.id)
            if known is not None and known.response != entry.response:
                edited.append(EditedAnswer(path, known, entry))
    return edited


def _entries(content: bytes, place: str) -> Iterator[Entry]:
    for number, line in enumerate(content.splitlines(), 1):
        try:
            yield parse_line(line)
        except BrokenLine as broken:
            raise RecordingFileError(f"{place}:{number}: {broken}") from broken


def _committed(path: Path, revision: str) -> bytes | None:
    """The file as the revision has it; None where it has none."""
    listed = _git(path.parent, "ls-tree", revision, "--", path.name)
    return _git(path.parent, "show", f"{revision}:./{path.name}") if listed else None


def _git(folder: Path, *arguments: str) -> bytes:
    try:
        done = subprocess.run(["git", "-C", str(folder), *arguments], capture_output=True, check=False)
    except OSError as failure:
        raise EvalError(f"git cannot be run: {failure.strerror}; install it") from failure
    if done.returncode:
        told = done.stderr.decode(errors="replace").strip() or f"git {arguments[0]} found nothing"
        raise EvalError(f"{folder}: {told}; give a revision of this repository, such as origin/main")
    return done.stdout
