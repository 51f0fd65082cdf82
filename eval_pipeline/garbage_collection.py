"""Python's garbage collector, kept from looking through much that is no garbage."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collector_paused() -> Iterator[None]:
    """Build much that stays, and no cycles: looking for some doubles the time it takes.

    What was built counts as old afterwards, so that it is not looked through when the pause ends.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.freeze()
            gc.unfreeze()  # into the oldest generation, without a look
            gc.enable()
