"""Where the rows of a plan come from, and what the cells planned above leave to take over."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable
from dataclasses import dataclass

from eval_pipeline.carry_over.inputs import Present
from eval_pipeline.carry_over.stored_rows import SharedCalls
from eval_pipeline.warehouse.row_inputs import RowInputs


@dataclass
class RowsPlanned:
    """Where the rows of one table will come from."""

    carried_over: int = 0
    planned_above: int = 0
    """Rows that a cell planned before this one makes, and that are carried over from it."""
    awaited: int = 0
    """Of `planned_above`, those that rest on answers which are not there yet."""
    replayed: int = 0
    called: int = 0
    open: int = 0
    """Rows that rest on answers which are not there yet, and whose own next call is not known."""

    @property
    def need_answers(self) -> bool:
        """Whether any row cannot be made from what is recorded."""
        return bool(self.awaited or self.called or self.open)


class PlannedAbove:
    """What will be recorded and stored by the time that the next cell of a plan is run."""

    def __init__(self) -> None:
        self._questions: set[str] = set()
        self._awaited: set[Hashable] = set()
        self._made: dict[str, list[tuple[RowInputs, SharedCalls]]] = defaultdict(list)

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
        planned = self._made[row.known]
        if any(present.agrees(other.used, rests_on) for other, rests_on in planned):
            return True
        planned.append((row, shared or {}))
        return False

    def forget_made(self) -> None:
        """Forget the rows that need no answer: the cells that would make them are not run."""
        self._made.clear()

    def awaits(self, row: Hashable) -> bool:
        """Whether a row that rests on calls to come was planned before; else it is from now on.

        Args:
            row: what is known of its inputs; None for what is never carried over.
        """
        planned = row is not None and row in self._awaited
        self._awaited.add(row)
        return planned
