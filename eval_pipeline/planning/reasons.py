"""Why rows are made again, grouped: one line for all that have the same reason."""

from __future__ import annotations

from collections.abc import Iterable

from eval_pipeline.alike_texts import group_alike, without_nearest
from eval_pipeline.errors import RecordingMiss
from eval_pipeline.suites import Cell, Suite


def miss_reason(miss: RecordingMiss, suite: Suite, cell: Cell) -> str:
    """What is new about a question that no recording answers."""
    why = without_nearest(miss.why)
    version = suite.candidates[cell.candidate].prompt_version
    if miss.role == "agent" and version and why.startswith(("prompt changed", "prompt is new")):
        why = why.replace("prompt", f"prompt {version}", 1)
    if why.startswith("nothing recorded"):
        why = f"{miss.model} is not recorded yet"
    return f"page to embed: {why}" if miss.call.of_page else why


def group_reasons(reasons: Iterable[str]) -> dict[str, int]:
    """How often each reason holds, most first; with hashes where all that share a reason have the same."""
    counted = {
        reason: len(found) for reason, found in group_alike((reason, None) for reason in reasons).items()
    }
    return dict(sorted(counted.items(), key=lambda item: -item[1]))
