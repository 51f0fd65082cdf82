"""The files a gate goes by, where they are other ones than the suite's own."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

NO_BASELINE = Path("none")
DEFAULT_POLICY = Path("default")


@dataclass(frozen=True)
class GateFiles:
    """The reviewed files a gate goes by; None means the suite's own."""

    baseline: Path | None = None
    """The path `none` stands for no baseline, wherever the suite has one."""
    policy: Path | None = None
    """The path `default` stands for the default rules, wherever the suite has others."""
