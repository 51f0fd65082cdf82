"""Who shares what of the live calls: a process its pools, a run its circuits."""

from __future__ import annotations

import functools
import threading

from eval_pipeline.model_settings import ModelSettings
from eval_pipeline.models.circuit import Circuit
from eval_pipeline.models.clock import Clock
from eval_pipeline.models.fault_log import FaultLog
from eval_pipeline.models.live_calls import LiveCalls
from eval_pipeline.models.pool import Pool

WINDOW = 50
ModelAddress = tuple[str, str | None]


class Pools:
    """The pools of a process, one a model at an address, made when first asked for."""

    def __init__(self, clock: Clock | None = None) -> None:
        self._clock = clock or Clock()
        self._lock = threading.Lock()
        self._pools: dict[ModelAddress, Pool] = {}

    def of(self, settings: ModelSettings) -> Pool:
        """The pool of a model, the same for all who ask it, whatever their other settings."""
        with self._lock:
            address = (settings.name, settings.base_url)
            if address not in self._pools:
                self._pools[address] = Pool(settings.name, self._clock)
            return self._pools[address]


PROCESS_POOLS = Pools()
"""The pools of this process: `max_concurrency` bounds a model's calls, whoever makes them."""


@functools.lru_cache(maxsize=8)
def calls_of_run(run_id: str, max_concurrency: int | None) -> RunCalls:
    """The live calls of a run, the same for all its steps here: a model that one gave up stays so."""
    return RunCalls(max_concurrency=max_concurrency)


class RunCalls:
    """The live calls of one run: all who ask a model in it share its circuit, and in the process its pool."""

    def __init__(
        self,
        pools: Pools = PROCESS_POOLS,
        clock: Clock | None = None,
        *,
        max_concurrency: int | None = None,
    ) -> None:
        """`max_concurrency` takes the place of what each model's settings say."""
        self._pools = pools
        self._max_concurrency = max_concurrency
        self._clock = clock or Clock()
        self._lock = threading.Lock()
        self._circuits: dict[ModelAddress, Circuit] = {}
        self._faults: dict[ModelAddress, FaultLog] = {}
        self.made_ahead: set[str] = set()
        """Ids of recorded judge calls that one step of the run made for the next, which counts them."""

    def of(self, settings: ModelSettings) -> LiveCalls:
        """The live calls to one model."""
        settings = self._bounded(settings)
        with self._lock:
            address = (settings.name, settings.base_url)
            circuit = self._circuits.setdefault(address, Circuit(settings.name))
            faults = self._faults.setdefault(address, FaultLog(settings.name))
        return LiveCalls(settings, self._pools.of(settings), circuit, faults, self._clock)

    def window(self, settings: ModelSettings | None) -> int:
        """How many runs to have under way at once, where each asks this model; 50 or more.

        Twice the calls that may be in flight: a run that is not asking just now leaves its place to another.
        """
        return WINDOW if settings is None else max(WINDOW, 2 * self._bounded(settings).max_concurrency)

    def _bounded(self, settings: ModelSettings) -> ModelSettings:
        if self._max_concurrency is None:
            return settings
        return settings.model_copy(update={"max_concurrency": self._max_concurrency})
