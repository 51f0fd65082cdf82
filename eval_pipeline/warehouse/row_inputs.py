"""What a stored row followed from, as columns of its table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from eval_pipeline.content_hash import content_hash
from eval_pipeline.recordings.credentials import without_secrets
from eval_pipeline.warehouse.stored_text import plain

_COUNTS = ("calls", "tokens", "cost")
VOLATILE = frozenset(
    {"called", "replayed", "latency_ms", "milliseconds", *_COUNTS, *(f"own_{name}" for name in _COUNTS)}
)
"""Columns that differ between two rows of equal content."""


@dataclass(frozen=True)
class RowInputs:
    """The inputs of one row: a hash of what was known before it was made, and all that it then used."""

    known: str
    used: tuple[str, ...] = ()
    """A line each, sorted: what was used, and the hash of what it held."""

    @cached_property
    def sha(self) -> str:
        """Hash of all of it."""
        return content_hash([self.known, list(self.used)])

    def columns(self) -> dict[str, Any]:
        """The row's `inputs_hash`, `inputs_known` and `inputs_used`."""
        return {"inputs_hash": self.sha, "inputs_known": self.known, "inputs_used": "\n".join(self.used)}


def input_columns(inputs: RowInputs | None) -> dict[str, Any]:
    """The columns of a row's inputs, null for a row that is never to be carried over."""
    return {} if inputs is None else inputs.columns()


def used_lines(text: str | None) -> list[str]:
    """The lines of an `inputs_used` column."""
    return text.split("\n") if text else []


def hashed(row: Mapping[str, Any], more: Sequence[Mapping[str, Any]] = ()) -> dict[str, Any]:
    """A row just made, with the hash of what it says and of what the rows that belong to it say.

    A secret is no part of that, as it is none of what is stored.
    """
    said = [{name: value for name, value in part.items() if name not in VOLATILE} for part in (row, *more)]
    return {**row, "content_hash": content_hash(without_secrets(plain(said))), "carried_over": False}
