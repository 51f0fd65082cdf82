"""Windows: a cell's cases are worked on some thousand at a time, so that memory does not grow with them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

Item = TypeVar("Item")

SIZE = 2000
"""Cases that are in memory at once: some 20 KiB each, and as many rows make a row group of a stored file."""


def windows(items: Sequence[Item]) -> Iterator[Sequence[Item]]:
    """The items, `SIZE` at a time, in their order; of none, none."""
    for start in range(0, len(items), SIZE):
        yield items[start : start + SIZE]
