"""One process's own append-only file: a call is on disk there before its answer is used."""

from __future__ import annotations

import fcntl
import os
import secrets
from pathlib import Path

from eval_pipeline.errors import RecordingFileError


def refuse_unwritable(folder: Path) -> None:
    """Make sure that a journal can be created in `folder`, without creating anything.

    Raises:
        RecordingFileError: when it can't.
    """
    nearest = next(path for path in (folder, *folder.parents) if path.exists())
    if not (nearest.is_dir() and os.access(nearest, os.W_OK | os.X_OK)):
        raise RecordingFileError(
            f"{folder}: no recording can be written here ({nearest} is no writable folder); "
            "make the folder writable"
        )


class Journal:
    """One process's new calls for one model, one line each; locked for as long as it is written.

    A journal shared by several writers would lose what one of them had acknowledged when another
    is killed in the middle of a line, hence one for each.
    """

    def __init__(self, folder: Path) -> None:
        """Create the journal in `folder`, and the folder where it is missing.

        Raises:
            RecordingFileError: when the file can't be created.
        """
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self.path, self._file = _create(folder)
        except OSError as error:
            raise RecordingFileError(
                f"{folder}: no recording can be written here ({error.strerror}); make the folder writable"
            ) from error

    def append(self, line: bytes) -> None:
        """Write `line` and its newline in one go, or leave the journal as it was.

        Raises:
            RecordingFileError: when the line can't be written whole, such as on a full disk.
        """
        whole = line + b"\n"
        before = os.fstat(self._file).st_size
        try:
            written = os.write(self._file, whole)
            while written < len(whole):  # the write that follows a short one says why it was short
                written += os.write(self._file, whole[written:])
        except OSError as error:
            # What comes next would otherwise continue a torn line, and make both unreadable.
            os.ftruncate(self._file, before)
            raise RecordingFileError(
                f"{self.path}: a call could not be written ({error.strerror}); make room and run again: "
                "the calls before it are kept"
            ) from error

    def close(self) -> None:
        """Let go of the file, so that any process may fold what is left of it."""
        os.close(self._file)


def _create(folder: Path) -> tuple[Path, int]:
    while True:
        path = folder / f"journal-{os.getpid()}-{secrets.token_hex(4)}.jsonl"
        file = os.open(path, os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_WRONLY, 0o644)
        fcntl.flock(file, fcntl.LOCK_EX)
        # Another process may have folded, and so removed, the empty file before we had its lock.
        if _is_same_file(path, file):
            return path, file
        os.close(file)


def _is_same_file(path: Path, file: int) -> bool:
    try:
        return os.path.samestat(path.stat(), os.fstat(file))
    except FileNotFoundError:
        return False
