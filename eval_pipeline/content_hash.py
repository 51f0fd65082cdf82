"""The one content hash: sha256 over canonical JSON, twelve digits where people read it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any


def canonical_json(value: Any) -> bytes:
    """`value` as ASCII JSON with sorted keys and no spaces; its keys must be text, as JSON's are.

    Raises:
        ValueError: for NaN and infinities, which JSON does not have.
        TypeError: for anything JSON does not have, such as a date or a set.
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False).encode("ascii")


def content_hash(value: Any) -> str:
    """64 hex digits of sha256 over `canonical_json(value)`."""
    return hashlib.sha256(canonical_json(value)).hexdigest()


def sha12(value: Any) -> str:
    """The first 12 hex digits of `content_hash(value)`, for keys and reports."""
    return content_hash(value)[:12]


class ListHash:
    """The `content_hash` of a list, given a part at a time."""

    def __init__(self) -> None:
        self._sha = hashlib.sha256(b"[")
        self._empty = True

    def add(self, values: Sequence[Any]) -> None:
        """The values that come next.

        Raises:
            ValueError: as `canonical_json`.
            TypeError: as `canonical_json`.
        """
        if values:
            self._sha.update(b"" if self._empty else b",")
            self._sha.update(canonical_json(values)[1:-1])
            self._empty = False

    def hexdigest(self) -> str:
        """64 hex digits, as `content_hash` of the whole list."""
        whole = self._sha.copy()
        whole.update(b"]")
        return whole.hexdigest()
