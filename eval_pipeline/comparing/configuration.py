"""What changed in the configuration between two sides, field by field."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from eval_pipeline.comparing.sides import Side
from eval_pipeline.comparing.word_diff import Segment, word_diff

_TOLD_ELSEWHERE = frozenset({"suite", "candidate", "dataset", "k", "strict_faithfulness", "prompt_sha"})
"""Fields of a report's key that name the sides, or say again what another field or the prompt says."""
_WORDS = {
    "prompt_version": "prompt",
    "cases": "dataset",
    "cases_sha": "cases",
    "docs_sha": "documents",
    "fixtures_sha": "fixtures",
    "judge_id": "judge id",
    "system_code_sha": "system code",
}


@dataclass(frozen=True)
class Change:
    """One field that differs; None on a side that has none."""

    name: str
    """Such as `model`, `parameters.k` or `stages.retrieval.threshold`."""
    before: Any
    after: Any


@dataclass(frozen=True)
class PromptChange:
    """A prompt that differs; the texts are None where only the hashes are known."""

    before_sha: str
    after_sha: str
    diff: tuple[Segment, ...] | None


def configuration_changes(before: Side, after: Side) -> tuple[Change, ...]:
    """The fields that differ, in the order of the report's key; the prompt's text is apart."""
    return tuple(
        Change(_WORDS.get(name, name), _leaf(a), _leaf(b))
        for name, a, b in _differences(_fields(before.key), _fields(after.key))
    )


def prompt_change(before: Side, after: Side) -> PromptChange | None:
    """How the prompt's text differs; None where it does not."""
    shas = before.key.get("prompt_sha"), after.key.get("prompt_sha")
    if shas[0] == shas[1]:
        return None
    known = before.prompt is not None and after.prompt is not None
    diff = word_diff(before.prompt or "", after.prompt or "") if known else None
    return PromptChange(str(shas[0]), str(shas[1]), diff)


_Absent = object()


def _leaf(value: Any) -> Any:
    return None if value is _Absent else value


def _fields(key: Mapping[str, Any]) -> dict[str, Any]:
    """The fields to compare, stages by name, as their order is a field of its own."""
    kept = {name: value for name, value in key.items() if name not in _TOLD_ELSEWHERE}
    stages = kept.pop("stages", [])
    kept["stages"] = {stage["name"]: {k: v for k, v in stage.items() if k != "name"} for stage in stages}
    kept["order of stages"] = [stage["name"] for stage in stages]
    return kept


def _differences(before: Any, after: Any, path: str = "") -> Iterator[tuple[str, Any, Any]]:
    if before == after:
        return
    if not isinstance(before, Mapping) or not isinstance(after, Mapping):
        if path == "order of stages" and sorted(before) != sorted(after):
            return  # a stage came or went, which is told by its name
        yield path, before, after
        return
    for name in dict.fromkeys([*before, *after]):
        deeper = f"{path}.{name}" if path else name
        yield from _differences(before.get(name, _Absent), after.get(name, _Absent), deeper)
