"""What an asset needs beside its partition: how models are asked, and where results go."""

import contextlib
from collections.abc import Iterator
from contextvars import ContextVar
from typing import cast

import dagster as dg

from eval_pipeline.agent_runs import Progress
from eval_pipeline.evaluation import Evaluation
from eval_pipeline.recordings import Mode
from eval_pipeline.settings import record_mode

_PROGRESS: ContextVar[Progress | None] = ContextVar("progress", default=None)


class EvaluationResource(dg.ConfigurableResource):  # type: ignore[type-arg]
    """Settings of a run; the launchpad and run config can change them."""

    record_mode: str = ""
    """`none`, `new_episodes` or `all`; empty means `EVAL_RECORD_MODE`, or `none`."""
    retry_errors: bool = False
    """Ask again where the recording holds a failure."""

    def evaluation(self, run_id: str) -> Evaluation:
        """The evaluation of one Dagster run.

        Raises:
            Failure: for an unknown record mode.
        """
        mode = self.record_mode or record_mode()
        if mode not in ("none", "new_episodes", "all"):
            raise dg.Failure(f"record_mode {mode!r} is not one of none, new_episodes, all")
        evaluation = Evaluation(run_id=run_id, mode=cast("Mode", mode), retry_errors=self.retry_errors)
        progress = _PROGRESS.get()
        if progress is None:
            return evaluation
        return Evaluation(
            run_id=run_id, mode=evaluation.mode, retry_errors=self.retry_errors, on_progress=progress
        )


@contextlib.contextmanager
def reporting_progress(progress: Progress) -> Iterator[None]:
    """Assets materialized in this process inside the block tell `progress` of every finished case."""
    token = _PROGRESS.set(progress)
    try:
        yield
    finally:
        _PROGRESS.reset(token)
