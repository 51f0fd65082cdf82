"""Groups reasons that say the same but for the hashes in them."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from typing import TypeVar

_HASHES = re.compile(r" \([0-9a-f]{12} → [0-9a-f]{12}\)")
_NEAREST = re.compile(r" \[nearest is case .*\]$")
Item = TypeVar("Item")


def group_alike(reasons: Iterable[tuple[str, Item]]) -> dict[str, list[Item]]:
    """What each reason holds for, in order; with hashes where all that share a reason have the same."""
    groups: dict[str, list[tuple[str, Item]]] = defaultdict(list)
    for reason, item in reasons:
        groups[_HASHES.sub("", without_nearest(reason))].append((reason, item))
    grouped: dict[str, list[Item]] = {}
    for text, found in groups.items():
        said = {reason for reason, _ in found}
        grouped[said.pop() if len(said) == 1 else text] = [item for _, item in found]
    return grouped


def without_nearest(reason: str) -> str:
    """A reason without the case that it was compared with."""
    return _NEAREST.sub("", reason)
