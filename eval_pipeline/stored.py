"""What the steps of an evaluation share: what storing gives back, and the refusals of what is not there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar

from eval_pipeline.errors import NotStoredError, StaleDefinitionsError

Item = TypeVar("Item")


class NotRecordedError(NotStoredError):
    """A candidate that nothing has been recorded for yet; it counts as nothing."""

    def __init__(self, what: str, remedy: str) -> None:
        """`what` is not recorded, and the command `remedy` records it."""
        self.what = what
        self._remedy = remedy
        super().__init__(f"{what}; record it with: {remedy}")

    def __reduce__(self) -> tuple[type[NotRecordedError], tuple[str, str]]:
        """How it is pickled: by what it was made of, where an exception goes by its text."""
        return NotRecordedError, (self.what, self._remedy)


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
