"""The one way to a model over the network: bounded, timed, retried, and given up when it is dead."""

from __future__ import annotations

import asyncio
import logging
import sys
import traceback
from collections.abc import Awaitable, Callable
from typing import TypeVar

import tenacity

from eval_pipeline.errors import CallFailed, ProviderFault
from eval_pipeline.model_settings import ModelSettings
from eval_pipeline.models.circuit import Circuit
from eval_pipeline.models.clock import Clock
from eval_pipeline.models.fault_log import FaultLog
from eval_pipeline.models.faults import classify
from eval_pipeline.models.pool import Pool, Slot
from eval_pipeline.models.remedies import remedy
from eval_pipeline.models.retrying import Attempts, Transient, waits_for
from eval_pipeline.recordings.calls import begin_attempt
from eval_pipeline.recordings.credentials import without_credentials

Answer = TypeVar("Answer")
log = logging.getLogger(__name__)


class LiveCalls:
    """The live calls to one model in one run.

    Each attempt holds a slot of the model's pool. Between attempts the call holds none, so that others go
    on while it waits; when the provider refuses calls for being too many, the pool itself sees to it that
    they don't. The repeated attempt then goes before the calls that have not begun.
    """

    def __init__(
        self, settings: ModelSettings, pool: Pool, circuit: Circuit, faults: FaultLog, clock: Clock
    ) -> None:
        self._settings = settings
        self._faults = faults
        self._pool = pool
        self._circuit = circuit
        self._clock = clock

    async def call(self, ask: Callable[[], Awaitable[Answer]]) -> Answer:
        """The answer of the first attempt that succeeds.

        Raises:
            CallFailed: when the provider refuses this very request.
            ProviderFault: when the provider stays unreachable, refuses all requests, or counts as dead.
        """
        attempts = Attempts(self._clock, self._faults)

        async def attempt() -> Answer:
            self._circuit.refuse_if_open()
            async with self._pool.slot(self._settings.max_concurrency, first=attempts.made > 0) as slot:
                self._circuit.refuse_if_open()  # it may have opened while this call waited
                attempts.begin()
                begin_attempt()
                handled = sys.exception()
                try:
                    async with asyncio.timeout(self._settings.timeout_s):
                        answer = await ask()
                except Exception as failure:  # providers raise anything, keys in its text included
                    raise self._fault(failure, slot, handled) from None
                self._note_answer(slot)
                return answer

        try:
            try:
                return await attempt()
            except Transient as failure:
                failed = [failure]

            async def attempt_again() -> Answer:
                if failed:
                    raise failed.pop()
                return await attempt()

            # Only now: what tenacity takes for a call that succeeds at once is as much as the rest here.
            retrying = tenacity.AsyncRetrying(sleep=self._clock.sleep, **attempts.policy())
            return await retrying(attempt_again)
        except ProviderFault as failure:
            raise self._lost(failure, attempts) from None

    def call_sync(self, ask: Callable[[], Answer]) -> Answer:
        """As `call`, for code that can't await; here the client's own timeout bounds an attempt."""
        attempts = Attempts(self._clock, self._faults)

        def attempt() -> Answer:
            self._circuit.refuse_if_open()
            with self._pool.slot_blocking(self._settings.max_concurrency, first=attempts.made > 0) as slot:
                self._circuit.refuse_if_open()
                attempts.begin()
                begin_attempt()
                handled = sys.exception()
                try:
                    answer = ask()
                except Exception as failure:  # as above
                    raise self._fault(failure, slot, handled) from None
                self._note_answer(slot)
                return answer

        retrying = tenacity.Retrying(sleep=self._clock.sleep_blocking, **attempts.policy())
        try:
            return retrying(attempt)
        except ProviderFault as failure:
            raise self._lost(failure, attempts) from None

    def _note_answer(self, slot: Slot) -> None:
        self._pool.answered(slot)
        self._circuit.answered()

    def _fault(self, failure: Exception, slot: Slot, handled: BaseException | None) -> Exception:
        """What an attempt's exception is to be raised as; `handled` was being handled when it began."""
        if isinstance(failure, (CallFailed, ProviderFault)):
            return failure
        if log.isEnabledFor(logging.DEBUG):
            log.debug("%s", without_credentials("".join(traceback.format_exception(failure))))
        fault = classify(failure, handled)
        text = fault.text
        if fault.kind == "timeout":
            text = f"no answer within {self._settings.timeout_s:g} s ({text.rstrip(': ')})"
        text = without_credentials(f"{self._settings.name}: {text}")
        if fault.overload:
            self._pool.refused(slot, fault.retry_after_s if waits_for(fault.retry_after_s) else None)
        if fault.of_this_request:
            self._note_answer(slot)
            return CallFailed(fault.kind, f"{text}; {remedy(fault.kind, self._settings)}")
        return Transient(fault, text) if fault.transient else ProviderFault(fault.kind, text)

    def _lost(self, failure: ProviderFault, attempts: Attempts) -> ProviderFault:
        """The fault that ends the call, with what was tried and what to do."""
        if failure.kind == "circuit_open":
            return failure
        tried = f"; tried {attempts.made} times in {attempts.elapsed_s:.0f} s" if attempts.made > 1 else ""
        wait = failure.retry_after_s if isinstance(failure, Transient) else None
        asked = f"; the provider asks to wait {wait:.0f} s" if wait else ""
        text = f"{failure.message}{tried}{asked}; {remedy(failure.kind, self._settings)}"
        lost = ProviderFault(failure.kind, text)
        self._circuit.failed(lost)
        self._faults.tell(logging.ERROR, lost.kind, f"gave up: {lost}")
        return lost
