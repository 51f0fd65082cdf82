"""How long a provider asks to wait before the next attempt, wherever it says so."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

_GOOGLE_DELAY = re.compile(r"retryDelay\W+(\d+(?:\.\d+)?)s")


def retry_after_s(failure: BaseException) -> float | None:
    """Seconds from a response's headers, or from the details of Google's errors; None where neither tells."""
    headers = getattr(getattr(failure, "response", None), "headers", None)
    if isinstance(headers, Mapping):
        if (milliseconds := _number(headers.get("retry-after-ms"))) is not None:
            return milliseconds / 1000
        if (seconds := _seconds(headers.get("retry-after"))) is not None:
            return seconds
    found = _GOOGLE_DELAY.search(str(getattr(failure, "details", "")))
    return float(found[1]) if found else None


def _seconds(value: Any) -> float | None:
    if value is None or (seconds := _number(value)) is not None:
        return seconds if value is not None else None
    try:
        until = parsedate_to_datetime(str(value))
        if until.tzinfo is None:  # `-0000`, which says that it is UTC
            until = until.replace(tzinfo=UTC)
        return max(0.0, (until - datetime.now(UTC)).total_seconds())
    except ValueError:
        return None


def _number(value: Any) -> float | None:
    try:
        return max(0.0, float(value))
    except (TypeError, ValueError):
        return None
