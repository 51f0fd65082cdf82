"""A cell's traces as a step of an evaluation: carried over or run, a window of cases at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from eval_pipeline.agent_runs import Finished, Progress, finish_runs, record_command
from eval_pipeline.carry_over.origins import row_origins
from eval_pipeline.carry_over.stored_rows import shared_used, write_shared
from eval_pipeline.carry_over.traces import TraceCarrier, cell_keys, join_traces, shared_of
from eval_pipeline.cases import Run
from eval_pipeline.errors import EvalError, RecordingMiss, RecordingMisses
from eval_pipeline.judge_ahead import judging_ahead
from eval_pipeline.shards import Shard, TracePart, finished_in, run_part
from eval_pipeline.stored import NotRecordedError, Stored
from eval_pipeline.suites import Cell, Suite
from eval_pipeline.warehouse.table_content import TableTally
from eval_pipeline.windows import windows

if TYPE_CHECKING:
    from eval_pipeline.evaluation import Evaluation

RunKey = tuple[str, int]


def run_shard(evaluation: Evaluation, cell: Cell, shard: Shard) -> TracePart:
    """One shard's runs of a cell, for `store_traces`; nothing is stored but what is recorded.

    Raises:
        ProviderFault: in a live mode, when a key is missing, the judge's included.
    """
    suite = evaluation.suite_of(cell)
    evaluation.refuse_missing_keys(suite, [cell])
    carrier = TraceCarrier(evaluation.warehouse, suite, cell, evaluation.digest_reader(suite))
    share = shard.take(suite.datasets[cell.dataset].runs)
    carried = carrier.carry(share)
    todo = [run for run in share if run not in carried]
    return run_part(todo, lambda runs: _run(evaluation, suite, cell, runs, evaluation.on_progress))


def store_traces(evaluation: Evaluation, cell: Cell, parts: Sequence[TracePart]) -> Stored:
    """One row a case and repeat.

    Args:
        evaluation: how models are asked, and where results go.
        cell: which candidate on which dataset.
        parts: what shards have run already; all else is run now.

    Raises:
        NotRecordedError: in mode `none`, when nothing is recorded for the candidate's model.
        RecordingMisses: in mode `none`, when something is missing.
        ProviderFault: in a live mode, when a key is missing, the judge's included.
    """
    suite = evaluation.suite_of(cell)
    evaluation.refuse_missing_keys(suite, [cell])
    dataset = suite.datasets[cell.dataset]
    carrier = TraceCarrier(evaluation.warehouse, suite, cell, evaluation.digest_reader(suite))
    maker = _Maker(evaluation, suite, cell, parts)
    tally = TableTally("calls", "called", "replayed", "input_tokens", "output_tokens")
    shared: dict[str, Mapping[str, str]] = {}
    used: set[str] = set()
    numbers = Counter({"errors": 0})
    with evaluation.warehouse.writing("traces", **cell_keys(cell)) as writer:
        for runs in windows(dataset.runs):
            carried = carrier.carry(runs)
            made = maker.make([run for run in runs if run not in carried], len(runs))
            if made is None:
                continue
            table = join_traces(runs, carried, made)
            shared |= shared_of(carried, made)
            used |= shared_used(table)
            tally.add(table)
            numbers.update(row_origins(table))
            numbers["errors"] += table.num_rows - table["error_source"].null_count
            writer.write(table)
        maker.finish()
        write_shared(evaluation.warehouse, "traces", shared, used, cell_keys(cell))
    return Stored(
        tally.version,
        {"cases": len(dataset.cases), "runs": tally.rows, **numbers, **tally.sums},
    )


class _Maker:
    """Makes the runs of a cell that are not carried over, some after the others."""

    def __init__(self, evaluation: Evaluation, suite: Suite, cell: Cell, parts: Sequence[TracePart]) -> None:
        self._evaluation = evaluation
        self._suite = suite
        self._cell = cell
        self._runs = suite.datasets[cell.dataset].runs
        self._parts = parts
        self._passed = 0
        self._told = 0
        self._misses: list[RecordingMiss] = []

    @cached_property
    def _done(self) -> Mapping[RunKey, Finished]:
        """What shards have run already."""
        try:
            return finished_in(self._parts, self._runs, record_command(self._suite, self._cell))
        except RecordingMisses as missing:
            raise self._refusal(missing) from missing

    def make(self, runs: Sequence[Run], of: int) -> list[Finished] | None:
        """What these runs of a window of `of` did; None once anything was missed, which `finish` tells."""
        done = {run.key: self._done[run.key] for run in runs if run.key in self._done}
        rest = [run for run in runs if run.key not in done]
        before = self._passed + of - len(rest)
        try:
            made = _run(
                self._evaluation, self._suite, self._cell, rest, lambda done, _: self._tell(before + done)
            )
        except RecordingMisses as missing:
            # Without the frames that they went through, which hold whole runs.
            self._misses += [miss.with_traceback(None) for miss in missing.misses]
            made = []
        self._passed += of
        if self._misses:
            return None
        done |= {run.key: what for run, what in zip(rest, made, strict=True)}
        return [done[run.key] for run in runs]

    def finish(self) -> None:
        """Tell the end of it.

        Raises:
            NotRecordedError: when nothing is recorded for the candidate's model.
            RecordingMisses: when something was missed, in any window.
        """
        if self._misses:
            missing = RecordingMisses(self._misses, record_command(self._suite, self._cell))
            raise self._refusal(missing) from missing
        if 0 < self._told < len(self._runs):
            self._tell(len(self._runs))

    def _tell(self, done: int) -> None:
        """Tell how many runs are done, those carried over included."""
        self._told = done
        self._evaluation.on_progress(done, len(self._runs))

    def _refusal(self, missing: RecordingMisses) -> EvalError:
        candidate = self._suite.candidates[self._cell.candidate]
        asked = self._suite.system.model_asked(candidate.model)
        if self._evaluation.open_recordings(self._suite).recorded(asked):
            return missing
        return NotRecordedError(
            f"{self._suite.name}: candidate {candidate.name!r} is not recorded: no call to {asked} is stored",
            record_command(self._suite, self._cell),
        )


def _run(
    evaluation: Evaluation, suite: Suite, cell: Cell, runs: Sequence[Run], on_progress: Progress
) -> list[Finished]:
    # To ask again what failed, once is enough: by scoring.
    ahead = evaluation.mode != "none" and not evaluation.retry_errors
    return finish_runs(
        suite,
        cell,
        lambda: evaluation.open_recordings(suite, cell),
        runs=runs,
        connector=evaluation.connector,
        calls=evaluation.calls,
        open_hook=judging_ahead(suite, cell, evaluation.connector, evaluation.calls) if ahead else None,
        on_progress=on_progress,
    )
