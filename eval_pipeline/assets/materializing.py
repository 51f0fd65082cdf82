"""Materializes cells from Python, in the Dagster instance that `dagster asset materialize` would use."""

import os
from collections.abc import Mapping, Sequence
from typing import Self

import dagster as dg
from dagster._core.errors import DagsterAssetCheckFailedError  # not exported, and no other error tells it

from eval_pipeline.agent_runs import Progress
from eval_pipeline.assets.partitions import is_calibrated
from eval_pipeline.assets.resources import EvaluationResource, collecting_reports, reporting_progress
from eval_pipeline.assets.suite_assets import suite_assets
from eval_pipeline.calibration_results import calibration_at_hand
from eval_pipeline.errors import EvalError, InputError
from eval_pipeline.gate_files import GateFiles
from eval_pipeline.recordings import Mode
from eval_pipeline.report.stage_report import StageReport
from eval_pipeline.suites import Cell, Suite

ONCE = ("cases", "documents", "prompts", "calibration", "baseline")
"""What several cells share, and is materialized once."""
QUIET = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}


class Materializer:
    """Materializes cells of one suite; a context manager, as it holds a Dagster instance open."""

    def __init__(
        self,
        suite: Suite,
        mode: Mode = "none",
        *,
        retry_errors: bool = False,
        max_concurrency: int | None = None,
        carry_over: bool = True,
    ) -> None:
        """Open the instance that DAGSTER_HOME names, or a passing one.

        Raises:
            InputError: when DAGSTER_HOME names no folder, or none that can be written.
        """
        home = os.environ.get("DAGSTER_HOME")
        if home and not (os.path.isabs(home) and os.path.isdir(home)):
            raise InputError(f"DAGSTER_HOME={home}: no folder by that absolute path; make it, or unset it")
        if home and not os.access(home, os.W_OK | os.X_OK):
            raise InputError(f"DAGSTER_HOME={home}: cannot be written; make it writable, or unset it")
        self._assets = suite_assets(suite)
        self._carry_over = carry_over
        self._suite = suite
        resource = EvaluationResource(
            record_mode=mode,
            retry_errors=retry_errors,
            max_concurrency=max_concurrency,
            carry_over=carry_over,
        )
        self._resources = {"evaluation": resource}
        instance = dg.DagsterInstance.get() if home else dg.DagsterInstance.ephemeral()
        self._instance = instance.__enter__()
        self._done: set[str] = set()
        self.reports: dict[Cell, StageReport] = {}
        """The reports made so far, by cell."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self._instance.__exit__(None, None, None)

    def materialize(self, cell: Cell, on_progress: Progress) -> str:
        """Materialize a cell up to its stage report; the run's id.

        Cases, documents and prompts come first, each under its own partitions; so does the calibration of
        the cell's judge, as far as it is recorded: without it the judge merely advises.

        Raises:
            EvalError: whatever stopped it; what was stored before stays.
            KeyboardInterrupt: after Ctrl-C; the calls that were answered are recorded.
        """
        self._run(["cases", "documents"], cell.dataset)
        self._run(["prompts"], cell.candidate)
        self._calibrate_recorded(cell)
        key = dg.MultiPartitionKey({"candidate": cell.candidate, "dataset": cell.dataset})
        with reporting_progress(on_progress), collecting_reports(self.reports):
            return self._run(["traces", "stage_scores", "stage_report"], key)

    def gate(self, cell: Cell, files: GateFiles) -> None:
        """Decide on a materialized cell and store the decision, whatever it is.

        Raises:
            EvalError: whatever stopped it; what was stored before stays.
        """
        chosen = {"baseline": files.baseline, "policy": files.policy}
        config = {name: str(path) for name, path in chosen.items() if path is not None}
        named = {name: config[name] for name in ("baseline",) if name in config}
        self._run(["baseline"], cell.dataset, config=named)
        key = dg.MultiPartitionKey({"candidate": cell.candidate, "dataset": cell.dataset})
        self._run(["gate_decision"], key, config=config)

    def calibrate(self, key: str, on_progress: Progress) -> str:
        """Materialize a judge's calibration; the run's id.

        Raises:
            EvalError: whatever stopped it; what was stored before stays.
            KeyboardInterrupt: after Ctrl-C; the calls that were answered are recorded.
        """
        with reporting_progress(on_progress):
            return self._run(["calibration"], key)

    def _calibrate_recorded(self, cell: Cell) -> None:
        judge = self._suite.judge_of(cell.candidate)
        if judge is None or not is_calibrated(self._suite):
            return
        key = self._suite.calibration_key(judge)
        if f"calibration:{key}" in self._done:
            return
        # Looked at first: a run of Dagster's that fails would show as a failure that nobody asked for.
        replay = EvaluationResource(record_mode="none", carry_over=self._carry_over)
        if calibration_at_hand(replay.evaluation(""), self._suite, judge):
            self._run(["calibration"], key, {"evaluation": replay})

    def _run(
        self,
        names: Sequence[str],
        partition_key: str,
        resources: Mapping[str, object] | None = None,
        config: Mapping[str, str] | None = None,
    ) -> str:
        once = f"{names[0]}:{partition_key}"
        if once in self._done:
            return ""
        ops = {f"{self._suite.name}__{name}": {"config": dict(config)} for name in names} if config else {}
        selection = [dg.AssetKey([self._suite.name, name]) for name in names]
        try:
            result = dg.materialize(
                self._assets,
                selection=selection,
                partition_key=partition_key,
                instance=self._instance,
                resources=resources or self._resources,
                run_config={**QUIET, "ops": ops},
            )
            run_id = result.run_id
        except DagsterAssetCheckFailedError:
            run_id = ""  # the decision is stored, and is for whoever asked to act on
        except dg.Failure as failure:
            raise _ours(failure) from failure
        except dg.DagsterExecutionInterruptedError as interrupt:
            raise KeyboardInterrupt from interrupt
        if names[0] in ONCE:
            self._done.add(once)
        return run_id


def _ours(failure: dg.Failure) -> Exception:
    return failure.__context__ if isinstance(failure.__context__, EvalError) else failure
