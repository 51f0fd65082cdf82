"""Where a model's recordings lie: the folder's name, its files and its journals."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

from eval_pipeline.content_hash import sha12
from eval_pipeline.recordings.request import Kind

FOLDED: dict[Kind, str] = {"chat": "calls.jsonl", "embed": "embeddings.jsonl"}
LOCK = ".lock"
_LONGEST = 120  # file systems stop at 255 bytes


@cache
def slug(model: str) -> str:
    """The name of the folder for `model`: only `[A-Za-z0-9._@-]`, never hidden, never too long.

    Different models may share a slug; whoever opens the folder refuses the second one.
    """
    name = re.sub(r"[^A-Za-z0-9._@-]", "-", model)
    name = re.sub(r"^\.+", "-", name) or "-"
    return name if len(name) <= _LONGEST else f"{name[: _LONGEST - 13]}-{sha12(model)}"


def model_folders(folder: Path) -> list[Path]:
    """The folders of the models recorded under `folder`, sorted; none where nothing is recorded."""
    if not folder.is_dir():
        return []
    return sorted(path for path in folder.iterdir() if path.is_dir() and not path.name.startswith("."))


def journals(folder: Path) -> list[Path]:
    """The journals in a model's folder, whether their writer lives or not."""
    return sorted(folder.glob("journal-*.jsonl"))
