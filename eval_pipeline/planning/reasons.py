"""Why rows are made again, grouped: one line for all that have the same reason."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable

from eval_pipeline.errors import RecordingMiss
from eval_pipeline.suites import Cell, Suite

_HASHES = re.compile(r" \([0-9a-f]{12} → [0-9a-f]{12}\)")
_NEAREST = re.compile(r" \[nearest is case .*\]$")


def miss_reason(miss: RecordingMiss, suite: Suite, cell: Cell) -> str:
    """What is new about a question that no recording answers."""
    why = _NEAREST.sub("", miss.why)
    version = suite.candidates[cell.candidate].prompt_version
    if miss.role == "agent" and version and why.startswith(("prompt changed", "prompt is new")):
        why = why.replace("prompt", f"prompt {version}", 1)
    if why.startswith("nothing recorded"):
        why = f"{miss.model} is not recorded yet"
    return f"page to embed: {why}" if miss.case_id.startswith("page ") else why


def group_reasons(reasons: Iterable[str]) -> dict[str, int]:
    """How often each reason holds, most first; with hashes where all that share a reason have the same."""
    groups: dict[str, list[str]] = defaultdict(list)
    for reason in reasons:
        groups[_HASHES.sub("", reason)].append(reason)
    counted = {(found[0] if len(set(found)) == 1 else text): len(found) for text, found in groups.items()}
    return dict(sorted(counted.items(), key=lambda item: -item[1]))
