"""Local files that are replaced whole: whoever reads one, or is killed, finds the old or the new content."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path


def replace_file(path: Path, content: bytes | Iterable[bytes]) -> None:
    """Put `content`, or its parts, at `path`, its folder included: written beside, as `….tmp`, and renamed.

    Raises:
        OSError: when it cannot be written; what was there before stays.
    """
    target = path.resolve()  # a link stays a link
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = target.with_name(f"{target.name}.{os.getpid()}.tmp")
    try:
        with temporary.open("wb") as file:
            file.writelines([content] if isinstance(content, bytes) else content)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, target)
    except OSError:
        temporary.unlink(missing_ok=True)
        raise
