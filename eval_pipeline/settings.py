"""Where things are: the environment is read here and nowhere else."""

from __future__ import annotations

import os
from pathlib import Path
from zoneinfo import ZoneInfo

from eval_pipeline.errors import InputError


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


def executor_name() -> str:
    """What runs the steps of Dagster's runs: `EVAL_EXECUTOR`, or `in_process`."""
    return os.environ.get("EVAL_EXECUTOR") or "in_process"


def nightly_cron() -> str:
    """When the nightly schedule runs: `EVAL_NIGHTLY_CRON`, or 03:00."""
    return os.environ.get("EVAL_NIGHTLY_CRON") or "0 3 * * *"


def nightly_timezone() -> str:
    """The time zone of that: `EVAL_NIGHTLY_TIMEZONE`, or UTC.

    Raises:
        InputError: when there is no such zone.
    """
    name = os.environ.get("EVAL_NIGHTLY_TIMEZONE") or "UTC"
    try:
        ZoneInfo(name)
    except (ValueError, OSError, KeyError) as failure:
        raise InputError(
            f"EVAL_NIGHTLY_TIMEZONE is {name!r}, which is no time zone; write one such as Europe/Berlin"
        ) from failure
    return name
