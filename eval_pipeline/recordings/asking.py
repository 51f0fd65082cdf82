"""One ask of one run, and which entry answers it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from eval_pipeline.recordings.request import Request
from eval_pipeline.recordings.scope import Scope, current_scope


@dataclass(frozen=True)
class Asking:
    """One ask of one run."""

    request: Request
    asker: Scope
    ordinal: int
    """How often this run asked the same before."""

    @property
    def id(self) -> str:
        """The id of the entry that answers."""
        if self.request.kind == "embed":  # a text has one vector, whoever asks for it and how often
            return f"{self.request.key}:0.0:0"
        return f"{self.request.key}:{self.asker.repeat}.{self.asker.judge_repeat}:{self.ordinal}"

    def withdraw(self) -> None:
        """Let the run's next ask of the same be the one that this would have been."""
        self.asker.return_ordinal(self.request.key, self.ordinal)


@contextmanager
def asking(request: Request) -> Iterator[Asking]:
    """Ask `request` for the current scope; withdrawn when the block raises.

    Raises:
        RuntimeError: when no scope is open.
    """
    asker = current_scope()
    opened = Asking(request, asker, asker.take_ordinal(request.key))
    try:
        with asker.waiting():
            yield opened
    except BaseException:
        opened.withdraw()
        raise
