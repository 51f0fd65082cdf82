"""What the steps of an evaluation share: what storing gives back, and the refusals of what is not there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar

from eval_pipeline.errors import NotStoredError, StaleDefinitionsError

Item = TypeVar("Item")


class NotRecordedError(NotStoredError):
    """A candidate that nothing has been recorded for yet; it counts as nothing."""


@dataclass(frozen=True)
class Stored:
    """What a step stored: the hash of its content, and numbers worth plotting."""

    data_version: str
    """Covers content alone, never times or cache counts, so that equal content stops the chain."""
    numbers: Mapping[str, int | float]


def fresh(known: Mapping[str, Item], key: str) -> Item:
    """What a partition key promises, or a refusal when the files have moved on."""
    if key not in known:
        raise StaleDefinitionsError(
            f"partition {key!r} is not what the files say now ({', '.join(known)}): "
            "definitions are stale; reload the code location, or materialize a current key"
        )
    return known[key]
