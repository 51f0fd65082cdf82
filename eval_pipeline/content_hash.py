"""The one content hash: sha256 over canonical JSON, twelve digits where people read it."""

from __future__ import annotations

import hashlib
import json
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
