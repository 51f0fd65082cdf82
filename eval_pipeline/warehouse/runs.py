"""A run: one materialization of one cell, as the append-only `runs` table keeps it for trends."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from datetime import UTC, datetime

import pyarrow as pa

from eval_pipeline.content_hash import sha12
from eval_pipeline.suites import slug
from eval_pipeline.warehouse.arrow_schemas import RUNS


@dataclass(frozen=True)
class Run:
    """What one materialization of a cell measured and cost."""

    run_id: str
    stored_at: datetime
    """With its time zone."""
    suite: str
    candidate: str
    """Key of the candidate."""
    dataset: str
    """Key of the dataset."""
    record_mode: str
    cases: int
    passed: int
    failed: int
    errors: int
    not_measured: int
    calls: int = 0
    """Calls of the agent's models answered, from the recording or live."""
    called: int = 0
    """Of these, the ones really made."""
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = None
    """List price of the agent's and the judge's calls when they were made, in US dollars; None where any of
    them has none."""
    judge_calls: int = 0
    """Calls of the judge answered, from the recording or live."""
    judge_called: int = 0
    """Of these, the ones really made."""
    judge_tokens: int = 0
    """What these calls took, in and out."""
    repeats: int = 1
    """How often each case was run: the counts from `passed` to `not_measured` are of `cases` times that."""

    def __post_init__(self) -> None:
        if self.stored_at.tzinfo is None:
            raise ValueError(f"run {self.run_id}: stored_at {self.stored_at} has no time zone; give one")

    @property
    def file_name(self) -> str:
        """`<time>-<run id>-<hash>.parquet`: sorted by time, and different for every cell of one run."""
        time = self.stored_at.astimezone(UTC).strftime("%Y%m%dT%H%M%S%fZ")
        content = sha12({**dataclasses.asdict(self), "stored_at": time})
        return f"{time}-{slug(self.run_id)[:80]}-{content}.parquet"


def runs_table(run: Run) -> pa.Table:
    """The `runs` table of one run: one row."""
    return pa.Table.from_pylist([dataclasses.asdict(run)], schema=RUNS)
