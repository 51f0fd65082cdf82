"""What an asset needs beside its partition: how models are asked, and where results go."""

import contextlib
from collections.abc import Iterator
from contextvars import ContextVar
from typing import cast

import dagster as dg

from eval_pipeline.agent_runs import Progress
from eval_pipeline.evaluation import Evaluation
from eval_pipeline.recordings import Mode
from eval_pipeline.report.stage_report import StageReport
from eval_pipeline.settings import record_mode
from eval_pipeline.suites import Cell


def _tell_nobody(done: int, total: int) -> None:
    pass


_REPORTS: ContextVar[dict[Cell, StageReport] | None] = ContextVar("reports", default=None)
_PROGRESS: ContextVar[Progress] = ContextVar("progress", default=_tell_nobody)


class EvaluationResource(dg.ConfigurableResource):  # type: ignore[type-arg]
    """Settings of a run; the launchpad and run config can change them."""

    record_mode: str = ""
    """`none`, `new_episodes` or `all`; empty means `EVAL_RECORD_MODE`, or `none`."""
    retry_errors: bool = False
    """Ask again where the recording holds a failure."""
    max_concurrency: int | None = None
    """Calls in flight at once to each model, in place of what the suite says."""
    carry_over: bool = True
    """Take rows with equal inputs from earlier results; else all code runs again."""

    def evaluation(self, run_id: str) -> Evaluation:
        """The evaluation of one Dagster run.

        Raises:
            Failure: for an unknown record mode, or less than one call at once.
        """
        mode = self.record_mode or record_mode()
        if mode not in ("none", "new_episodes", "all"):
            raise dg.Failure(f"record_mode {mode!r} is not one of none, new_episodes, all")
        if self.max_concurrency is not None and self.max_concurrency < 1:
            raise dg.Failure(f"max_concurrency is {self.max_concurrency}; set 1 or more, or leave it out")
        return Evaluation(
            run_id=run_id,
            mode=cast("Mode", mode),
            retry_errors=self.retry_errors,
            max_concurrency=self.max_concurrency,
            carry_over=self.carry_over,
            on_progress=_PROGRESS.get(),
        )


@contextlib.contextmanager
def reporting_progress(progress: Progress) -> Iterator[None]:
    """Assets materialized in this process inside the block tell `progress` of every finished case."""
    token = _PROGRESS.set(progress)
    try:
        yield
    finally:
        _PROGRESS.reset(token)


@contextlib.contextmanager
def collecting_reports(reports: dict[Cell, StageReport]) -> Iterator[None]:
    """Reports made in this process inside the block are put into `reports` too, by their cell."""
    token = _REPORTS.set(reports)
    try:
        yield
    finally:
        _REPORTS.reset(token)


def note_report(report: StageReport) -> None:
    """Hand a report just made to whoever collects them."""
    if (reports := _REPORTS.get()) is not None:
        reports[report.cell] = report
