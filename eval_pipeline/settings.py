"""Where things are: the environment is read here and nowhere else."""

from __future__ import annotations

import os
from pathlib import Path


def data_root() -> Path:
    """The folder of suites: `EVAL_DATA`, or `data` in the current folder."""
    return Path(os.environ.get("EVAL_DATA") or "data").expanduser().resolve()


def warehouse_root() -> str:
    """Where results land: `EVAL_WAREHOUSE` (a path or an fsspec URL), or `warehouse` in this folder."""
    root = os.environ.get("EVAL_WAREHOUSE") or "warehouse"
    return root if "://" in root else str(Path(root).expanduser().resolve())


def record_mode() -> str:
    """The recording mode when nothing else names one: `EVAL_RECORD_MODE`, or `none`."""
    return os.environ.get("EVAL_RECORD_MODE") or "none"
