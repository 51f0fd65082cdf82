"""Python's garbage collector, kept from looking through much that is no garbage."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collector_paused() -> Iterator[None]:
    """Build much that stays, and no cycles: looking for some doubles the time it takes."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


@contextmanager
def few_whole_collections() -> Iterator[None]:
    """Have the collector look through everything more rarely; what is young is collected as ever.

    Modules, cases and results, a few hundred thousand objects, are no garbage; each time, to look through
    them takes as long as a dozen replayed cases. (`gc.freeze` would spare them too, but puts young objects
    before old ones: then a connection is finalized before the client that would have closed it.)
    """
    young, middle, old = gc.get_threshold()
    gc.set_threshold(young, middle, 10 * old)
    try:
        yield
    finally:
        gc.set_threshold(young, middle, old)
