"""Problems collected, so that one look shows them all."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from types import TracebackType

from eval_pipeline.errors import InputError, SuiteError

SHOWN = 100
"""Problems that one look shows; nobody reads more."""


class Problems:
    """What is wrong so far: `with problems:` goes on after an error, and `raise_any` raises them all."""

    def __init__(self) -> None:
        self._found: dict[str, None] = {}

    def add(self, problem: str) -> None:
        """Note one problem; the same one twice is one."""
        self._found[problem] = None

    def add_all(self, problems: Iterable[str]) -> None:
        """Note several problems."""
        self._found |= dict.fromkeys(problems)

    def raise_any(self, error: type[InputError] = SuiteError) -> None:
        """Raise what was noted, if anything was.

        Raises:
            InputError: of the given type.
        """
        if self._found:
            raise error(list(self._found))

    def __enter__(self) -> None: ...

    def __exit__(
        self, kind: type[BaseException] | None, failure: BaseException | None, trace: TracebackType | None
    ) -> bool:
        if not isinstance(failure, InputError):
            return False
        self.add_all(failure.problems)
        return True


def shorten(problems: Sequence[str]) -> list[str]:
    """The first problems, and a word that there are more."""
    return [*problems[:SHOWN], *(["and more problems: mend these first"] if len(problems) > SHOWN else [])]
