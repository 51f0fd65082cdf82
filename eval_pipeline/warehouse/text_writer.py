"""Writes a text file a part at a time, and tells what it wrote."""

from __future__ import annotations

import hashlib
from typing import IO

from eval_pipeline.recordings.credentials import without_secrets
from eval_pipeline.warehouse.storage import StoragePath, telling_where


class TextWriter:
    """A text file under way."""

    def __init__(self, path: StoragePath, file: IO[bytes]) -> None:
        """Write to `file`, which is to take the place of the one at `path`."""
        self._path = path
        self._file = file
        self._sha = hashlib.sha256()

    def write(self, text: str) -> int:
        """Add text, without secrets; says how many bytes that took.

        Raises:
            EvalError: when it cannot be written.
        """
        written = str(without_secrets(text)).encode("utf-8", "backslashreplace")
        self._sha.update(written)
        with telling_where(self._path):
            return self._file.write(written)

    @property
    def sha(self) -> str:
        """64 hex digits of sha256 over all that was written."""
        return self._sha.hexdigest()
