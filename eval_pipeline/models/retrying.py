"""When a failed call is made again: the one retry layer of chat models, judges and embedders."""

from __future__ import annotations

import logging
from typing import Any

import tenacity

from eval_pipeline.errors import ProviderFault
from eval_pipeline.models.clock import Clock
from eval_pipeline.models.fault_log import FaultLog
from eval_pipeline.models.faults import Fault

ATTEMPTS = 5
"""Attempts at one call, the first included."""
LONGEST_TOTAL_S = 600.0
"""No attempt begins later than this after the first one did.

So a call ends within this and one `timeout_s`, whatever the provider asks to wait. A call that timed out
after longer than this is not made again.
"""

_backoff = tenacity.wait_random_exponential(multiplier=1, max=30)


def waits_for(seconds: float | None) -> bool:
    """Whether a call would wait as long as a provider asks; for the next day's quota it gives up at once."""
    return seconds is not None and seconds <= LONGEST_TOTAL_S


class Transient(ProviderFault):
    """A fault worth another attempt; what is left after the last one is an ordinary `ProviderFault`."""

    def __init__(self, fault: Fault, text: str) -> None:
        super().__init__(fault.kind, text)
        self.retry_after_s = fault.retry_after_s


class Attempts:
    """The attempts at one call: how many were made, since when, and when the next one may begin."""

    def __init__(self, clock: Clock, faults: FaultLog) -> None:
        self.made = 0
        self._clock = clock
        self._faults = faults
        self._started = 0.0

    @property
    def elapsed_s(self) -> float:
        """Seconds since the first attempt began; waiting for a slot before it does not count."""
        return self._clock.now() - self._started

    def begin(self) -> None:
        """Note that an attempt begins."""
        if not self.made:
            self._started = self._clock.now()
        self.made += 1

    def policy(self) -> dict[str, Any]:
        """The arguments of tenacity's `Retrying` or `AsyncRetrying`, but for how to sleep."""
        return {
            "retry": tenacity.retry_if_exception_type(Transient),
            "wait": _wait,
            "stop": self._stop,
            "before_sleep": self._log,
            "reraise": True,
        }

    def _stop(self, state: tenacity.RetryCallState) -> bool:
        return self.made >= ATTEMPTS or self.elapsed_s + state.upcoming_sleep > LONGEST_TOTAL_S

    def _log(self, state: tenacity.RetryCallState) -> None:
        failure = _failure(state)
        kind = failure.kind if isinstance(failure, Transient) else ""
        text = f"attempt {self.made} of {ATTEMPTS}: {failure}; waiting {state.upcoming_sleep:.1f} s"
        self._faults.tell(logging.WARNING, kind, text)


def _wait(state: tenacity.RetryCallState) -> float:
    """What the server asks for, else exponential with jitter; seconds."""
    failure = _failure(state)
    asked = failure.retry_after_s if isinstance(failure, Transient) else None
    return asked or _backoff(state)


def _failure(state: tenacity.RetryCallState) -> BaseException | None:
    return state.outcome.exception() if state.outcome else None
