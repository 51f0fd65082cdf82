"""Our errors as Dagster shows them: the message, without a traceback of the wiring."""

import contextlib
from collections.abc import Iterator

import dagster as dg

from eval_pipeline.errors import EvalError


@contextlib.contextmanager
def shown_plainly() -> Iterator[None]:
    """An `EvalError` inside the block fails the asset with its text alone; it stays the failure's context."""
    try:
        yield
    except EvalError as error:
        raise dg.Failure(str(error), allow_retries=False) from None
