"""Where the rows of a plan come from, and what the cells planned above leave to take over."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Literal

from eval_pipeline.carry_over.inputs import Present
from eval_pipeline.carry_over.stored_rows import SharedCalls
from eval_pipeline.warehouse.row_inputs import RowInputs

Origin = Literal["carried_over", "planned_above", "replayed", "called", "open"]


@dataclass
class RowsPlanned:
    """Where the rows of one table will come from."""

    carried_over: int = 0
    planned_above: int = 0
    """Rows that a cell planned before this one makes, and that are carried over from it."""
    replayed: int = 0
    called: int = 0
    open: int = 0
    """Rows that rest on answers which are not there yet."""

    def add(self, origin: Origin) -> None:
        """Count one more row."""
        setattr(self, origin, getattr(self, origin) + 1)


class PlannedAbove:
    """What will be recorded and stored by the time that the next cell of a plan is run."""

    def __init__(self) -> None:
        self._questions: set[str] = set()
        self._awaited: set[Hashable] = set()
        self._made: dict[str, tuple[RowInputs, SharedCalls]] = {}

    def new_questions(self, entry_ids: Iterable[str]) -> list[str]:
        """The calls that nobody planned so far, each once; from now on they are planned."""
        new = [entry_id for entry_id in dict.fromkeys(entry_ids) if entry_id not in self._questions]
        self._questions.update(new)
        return new

    def makes(self, row: RowInputs | None, present: Present, shared: SharedCalls | None = None) -> bool:
        """Whether such a row was planned before and holds here too; else it is from now on.

        Args:
            row: what it follows from; None for what is never carried over.
            present: what the recordings and the dataset hold.
            shared: the shared responses that `row` rests on.
        """
        if row is None:
            return False
        if (planned := self._made.get(row.known)) and present.agrees(planned[0].used, planned[1]):
            return True
        self._made[row.known] = row, shared or {}
        return False

    def awaits(self, row: Hashable) -> bool:
        """Whether a row that rests on calls to come was planned before; else it is from now on.

        Args:
            row: what is known of its inputs; None for what is never carried over.
        """
        planned = row is not None and row in self._awaited
        self._awaited.add(row)
        return planned
