"""Logs what fails in a run: the first of a kind whole, then each tenth, hundredth … for all in between."""

from __future__ import annotations

import logging
import threading
from collections import Counter

log = logging.getLogger(__name__)

SHOWN = 4
"""Faults of one kind that are logged before they are only counted: the failed attempts at one lost call."""


class FaultLog:
    """The failed attempts and lost calls of one model in one run.

    A provider that is down fails every case alike: what is not shown is logged for debugging.
    """

    def __init__(self, model: str) -> None:
        self._model = model
        self._lock = threading.Lock()
        self._counts: Counter[str] = Counter()

    def tell(self, level: int, kind: str, text: str) -> None:
        """Log one fault; those of the same level and kind count as alike."""
        with self._lock:
            key = f"{logging.getLevelName(level)} {kind}"
            self._counts[key] += 1
            count = self._counts[key]
        if count > SHOWN and not _is_power_of_ten(count):
            log.debug("%s", text)
        elif count > SHOWN:
            log.log(
                level,
                "%s (%s failed so %d times by now; the next line is at ten times that)",
                text,
                self._model,
                count,
            )
        else:
            log.log(level, "%s", text)


def _is_power_of_ten(count: int) -> bool:
    return str(count).strip("0") == "1"
