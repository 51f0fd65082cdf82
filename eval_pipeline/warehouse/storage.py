"""Files that appear whole or not at all, in a local folder or on any store fsspec knows."""

from __future__ import annotations

import contextlib
import os
import tempfile
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from upath import UPath

from eval_pipeline.errors import EvalError

StoragePath = Path | UPath


def storage_path(root: str | Path) -> StoragePath:
    """The folder `root` names: an absolute local path, or an fsspec URL such as `s3://bucket/evals`.

    Raises:
        EvalError: for a protocol that is unknown or not installed.
    """
    text = str(root)
    if "://" not in text:
        return Path(text).absolute()
    try:
        path = UPath(text)
        if path.protocol in ("file", "local"):
            return Path(path.path).absolute()
        path.fs  # noqa: B018 - creates the client, which says when a package is missing
    except (ImportError, ValueError) as failure:
        raise EvalError(
            f"warehouse {text!r} cannot be opened: {failure}; give a path or an fsspec URL, and install "
            "the package of its protocol"
        ) from failure
    return path


def filesystem_of(path: StoragePath) -> Any:
    """The fsspec filesystem of a remote path, or None for a local one."""
    return path.fs if isinstance(path, UPath) else None


def write_whole(path: StoragePath, content: bytes) -> None:
    """Put `content` at `path`; readers see the old file or the new one, never a part.

    Raises:
        EvalError: when the place cannot be written.
    """
    with writing(path) as file, telling_where(path):
        file.write(content)


@contextlib.contextmanager
def writing(path: StoragePath) -> Iterator[IO[bytes]]:
    """A file to write what then is put at `path`, unless the block raises: readers never see a part of it.

    Locally it is written beside under a name ending in `.tmp`, which no glob of ours matches, and renamed;
    elsewhere one put is the atomic step.

    Raises:
        EvalError: when the place cannot be written; what fails inside the block is for `telling_where`.
    """
    temporary = None if isinstance(path, UPath) else path.with_name(f"{path.name}.{uuid.uuid4().hex}.tmp")
    with telling_where(path):
        file = tempfile.TemporaryFile() if temporary is None else _create(temporary)
    try:
        yield file
        with telling_where(path):
            file.flush()
            if isinstance(path, UPath):
                file.seek(0)
                _put(path, file.read())
            file.close()
            if temporary is not None:
                os.replace(temporary, str(path))
    finally:
        with contextlib.suppress(OSError):  # on a full disk it would try once more, and hide what was told
            file.close()
        if temporary is not None:
            temporary.unlink(missing_ok=True)


@contextlib.contextmanager
def telling_where(path: StoragePath) -> Iterator[None]:
    """What the system says against writing to `path`, as our error.

    Raises:
        EvalError: for any OSError in the block.
    """
    try:
        yield
    except OSError as failure:
        raise EvalError(
            f"{path}: cannot be written: {failure.strerror or failure}; EVAL_WAREHOUSE names another place"
        ) from failure


def _put(path: UPath, content: bytes) -> None:
    try:
        path.fs.pipe_file(path.path, content)
    except FileNotFoundError:  # a store with real folders; object stores have none
        path.fs.makedirs(path.parent.path, exist_ok=True)
        path.fs.pipe_file(path.path, content)


def _create(path: Path) -> IO[bytes]:
    path.parent.mkdir(parents=True, exist_ok=True)
    return path.open("wb")
