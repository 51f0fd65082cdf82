"""Stops asking a model that no longer answers, so that a dead provider ends a run soon."""

from __future__ import annotations

import logging
import threading

from eval_pipeline.errors import ProviderFault

log = logging.getLogger(__name__)

FAILURES_IN_A_ROW = 5
"""Calls that must fail one after another, each with all its retries, before a model counts as dead."""


class Circuit:
    """Whether a model still answers, as far as this run has seen.

    It belongs to one run: the next one asks anew. There is no probing in between, as the calls that were in
    flight when it opened are probe enough: one answer closes it.
    """

    def __init__(self, model: str) -> None:
        self._model = model
        self._lock = threading.Lock()
        self._failed = 0
        self._last: ProviderFault | None = None

    def refuse_if_open(self) -> None:
        """Let a call pass, or not.

        Raises:
            ProviderFault: `circuit_open`, when the last calls all failed.
        """
        last = self._last
        if last is not None and self._failed >= FAILURES_IN_A_ROW:
            raise ProviderFault(
                "circuit_open",
                f"{self._model}: not asked any more, as {self._failed} calls in a row failed, the last with "
                f"{last.kind}: {last.message}",
            )

    def answered(self) -> None:
        """Note that the provider answered, be it with a refusal of that very request."""
        if self._failed:
            with self._lock:
                self._failed = 0

    def failed(self, failure: ProviderFault) -> None:
        """Note a call that got no answer, retries included."""
        with self._lock:
            self._failed += 1
            self._last = failure
            if self._failed == FAILURES_IN_A_ROW:
                log.error("%s: %d calls in a row failed; the rest are not made", self._model, self._failed)
