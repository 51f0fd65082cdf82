"""Shards: a cell's work cut into parts that run anywhere, and put together as if it had run in one piece."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from eval_pipeline.cases import Run
from eval_pipeline.errors import RecordingMiss, RecordingMisses

if TYPE_CHECKING:
    from eval_pipeline.agent_runs import Finished
    from eval_pipeline.stages import Scored

Item = TypeVar("Item")
MOST_SHARDS = 1000
"""Shards that a suite may declare."""

CheckPlace = tuple[str, int, str]
"""Case id, repeat and stage of a check."""


@dataclass(frozen=True)
class Shard:
    """One of the parts that a cell's work is cut into."""

    number: int
    """Counted from 0."""
    of: int

    def take(self, items: Sequence[Item]) -> Sequence[Item]:
        """Its share: every `of`-th item, so that what is dear and lies together is spread."""
        return items[self.number :: self.of]


@dataclass(frozen=True)
class TracePart:
    """What one shard ran; it travels from process to process as a pickle."""

    finished: Mapping[tuple[str, int], Finished] = field(default_factory=dict)
    """By case id and repeat."""
    misses: tuple[RecordingMiss, ...] = ()
    """Runs that no recording answers: then nothing is finished."""


@dataclass(frozen=True)
class CheckPart:
    """What one shard scored; a check is what came of it, or the call that no recording answers.

    What such a miss means shows only among all checks of its stage.
    """

    checks: Mapping[CheckPlace, Scored | RecordingMiss] = field(default_factory=dict)


def run_part(runs: Sequence[Run], run_all: Callable[[Sequence[Run]], Sequence[Finished]]) -> TracePart:
    """Run a shard's runs; what is not recorded is kept, to be told together with the other shards'."""
    try:
        finished = run_all(runs)
    except RecordingMisses as missing:
        return TracePart(misses=missing.misses)
    return TracePart({run.key: what for run, what in zip(runs, finished, strict=True)})


def finished_in(
    parts: Sequence[TracePart], runs: Sequence[Run], command: str
) -> Mapping[tuple[str, int], Finished]:
    """What shards ran, by case id and repeat.

    Args:
        parts: what each of them did.
        runs: all runs of the cell.
        command: what records what no recording answers.

    Raises:
        RecordingMisses: listing what every shard missed, in the order of the runs.
    """
    misses = [miss for part in parts for miss in part.misses]
    if misses:
        order = {run.key: place for place, run in enumerate(runs)}
        misses.sort(key=lambda miss: order.get((miss.case_id, miss.repeat), -1))
        raise RecordingMisses(misses, command)
    return {key: what for part in parts for key, what in part.finished.items()}
