"""Lists, checks and prunes all the recordings of a suite."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path

from eval_pipeline.errors import EvalError
from eval_pipeline.recordings.entry import Entry
from eval_pipeline.recordings.folding import fold
from eval_pipeline.recordings.layout import FOLDED, journals, model_folders
from eval_pipeline.recordings.lines import Broken, FolderReader, writer_lives
from eval_pipeline.recordings.parsing import parse_line
from eval_pipeline.recordings.shelf import read_lines


def read_entries(folder: Path) -> Iterator[Entry]:
    """Every entry recorded under `folder`, model by model, in the order of the files.

    Raises:
        RecordingFileError: when any line is no entry, naming file and line.
    """
    for model_folder in model_folders(folder):
        yield from map(parse_line, read_lines(FolderReader(model_folder)).values())


def check_recordings(folder: Path) -> list[str]:
    """What is wrong with the recordings under `folder`: each broken line, each journal left over."""
    problems = []
    for model_folder in model_folders(folder):
        reader = FolderReader(model_folder)
        left = [path for path in journals(model_folder) if not writer_lives(path)]
        for path in (*(model_folder / name for name in FOLDED.values()), *left):
            problems += [found.text for found in reader.scan(path) if isinstance(found, Broken)]
        problems += [
            f"{path}: left behind by a recording that was interrupted; record again to fold it in"
            for path in left
        ]
    return problems


def prune(folder: Path, used: Collection[str]) -> int:
    """Drop what no entry id in `used` names from the recordings under `folder`; says how many.

    Raises:
        RecordingFileError: when a file can't be read.
        EvalError: when a process is recording there now, or a file can't be written.
    """
    recorded = [path for path in model_folders(folder) if _has_recordings(path)]
    for path in (journal for model in recorded for journal in journals(model)):
        if writer_lives(path):
            raise EvalError(f"{path}: a running process records here; prune once it has finished")
    return sum(fold(path, keep=used).dropped for path in recorded)


def _has_recordings(folder: Path) -> bool:
    return bool(journals(folder)) or any((folder / name).exists() for name in FOLDED.values())
