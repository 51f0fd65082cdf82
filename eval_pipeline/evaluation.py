"""An evaluation: one run's settings, and what each asset does with the suite's files and stored results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any, TypeVar

from eval_pipeline.agent_runs import Progress
from eval_pipeline.carry_over.origins import ORIGIN_COLUMNS, row_origins
from eval_pipeline.carry_over.traces import cell_keys
from eval_pipeline.check_results import score_shard, store_scores
from eval_pipeline.comparing.earlier_prompt import earlier_prompt
from eval_pipeline.content_hash import content_hash
from eval_pipeline.datasets import Dataset
from eval_pipeline.gating.outcomes import Outcomes
from eval_pipeline.model_settings import ModelSettings
from eval_pipeline.models.connection import Connector
from eval_pipeline.models.keys import refuse_missing_keys
from eval_pipeline.models.run_calls import RunCalls, calls_of_run
from eval_pipeline.recordings import Mode, Recordings, read_digests
from eval_pipeline.report.stage_report import StageReport
from eval_pipeline.report_results import build_outcomes, build_report, store_report
from eval_pipeline.scores import CheckResult
from eval_pipeline.settings import data_root, warehouse_root
from eval_pipeline.shards import CheckPart, Shard, TracePart
from eval_pipeline.stored import Stored, fresh
from eval_pipeline.suite_reading import find_suite, find_suites
from eval_pipeline.suites import Candidate, Cell, Suite
from eval_pipeline.trace_results import run_shard, store_traces
from eval_pipeline.traces import AgentTrace
from eval_pipeline.warehouse.score_rows import checks_from
from eval_pipeline.warehouse.store import Warehouse
from eval_pipeline.warehouse.suite_rows import cases_table, documents_table, prompts_table
from eval_pipeline.warehouse.trace_rows import traces_from
from eval_pipeline.windows import windows

Item = TypeVar("Item")


@dataclass(frozen=True)
class Evaluation:
    """One run: where it reads and writes, and how models are asked."""

    run_id: str
    data_root: Path = field(default_factory=data_root)
    warehouse_root: str = field(default_factory=warehouse_root)
    mode: Mode = "none"
    retry_errors: bool = False
    max_concurrency: int | None = None
    """Calls in flight at once to each model; None means what the suite says of it."""
    carry_over: bool = True
    """Whether rows with equal inputs are taken from earlier results; else all code runs again."""
    connector: Connector | None = None
    """Makes the live clients; None means the providers' own."""
    on_progress: Progress = lambda done, total: None

    @cached_property
    def calls(self) -> RunCalls:
        """The live calls of the run, as far as it goes on in this process."""
        if self.connector is not None or not self.run_id:
            return RunCalls(max_concurrency=self.max_concurrency)
        return calls_of_run(self.run_id, self.max_concurrency)

    @property
    def warehouse(self) -> Warehouse:
        """Fresh samples (mode `all`) are kept apart from the results that replay."""
        return Warehouse(self.warehouse_root, sample=self.run_id if self.mode == "all" else None)

    @property
    def shared_warehouse(self) -> Warehouse:
        """What is the same for fresh samples too, as its keys say what it holds: all but a cell's results."""
        return Warehouse(self.warehouse_root)

    def suite(self, name: str) -> Suite:
        """The suite as its files say now.

        Raises:
            InputError: when they cannot be used.
        """
        return find_suite(self.data_root, name)

    def refuse_missing_keys(self, suite: Suite, cells: Sequence[Cell]) -> None:
        """Refuse to begin live what would end at the first call to an agent's model, embedder or judge.

        Raises:
            ProviderFault: `no_key`, with what to set for each model that lacks its key.
        """
        if self.mode == "none" or self.connector is not None:
            return
        judged = any(stage.scorer.judged for stage in suite.stages)
        models: list[ModelSettings | None] = []
        for key in dict.fromkeys(cell.candidate for cell in cells):
            candidate = suite.candidates[key]
            if suite.system.recorded_as is None:
                models += [candidate.model, candidate.embedder]
            judge = suite.judge_of(key) if judged else None
            models.append(None if judge is None else judge.model)
        refuse_missing_keys(*models)

    def open_recordings(self, suite: Suite, cell: Cell | None = None) -> Recordings:
        """The suite's recordings; in mode `all` an empty folder beside the committed ones.

        What a `cell` lacks of them is told as what changed since its candidate was stored before.
        """
        folder = suite.recordings
        if self.mode == "all":
            # Beside the catalogue, which is local even when results go to an object store.
            samples = self.warehouse.catalogue_path.parent / "samples"
            folder = samples / self.run_id / "recordings" / suite.name
        before = None if cell is None else partial(earlier_prompt, self.shared_warehouse, cell)
        return Recordings(
            folder, self.mode, retry_errors=self.retry_errors, in_use=suite.in_use, before=before
        )

    def store_cases(self, suite_name: str, dataset_key: str) -> Stored:
        """One row a case."""
        dataset = self._dataset(suite_name, dataset_key)
        with self.shared_warehouse.writing("cases", suite=suite_name, dataset=dataset_key) as writer:
            for places in windows(range(len(dataset.cases))):
                writer.write(cases_table(dataset.cases[places[0] : places[-1] + 1], places[0]))
        return Stored(dataset.cases_sha, {"cases": len(dataset.cases)})

    def store_documents(self, suite_name: str, dataset_key: str) -> Stored:
        """One row a page."""
        dataset = self._dataset(suite_name, dataset_key)
        self.shared_warehouse.write(
            "documents", documents_table(dataset.documents), suite=suite_name, dataset=dataset_key
        )
        version = content_hash([dataset.docs_sha, dataset.fixtures_sha])
        return Stored(version, {"documents": len(dataset.documents), "fixtures": len(dataset.fixtures)})

    def store_prompt(self, suite_name: str, candidate_key: str) -> Stored:
        """One row: the candidate's prompt."""
        candidate: Candidate = fresh(self.suite(suite_name).candidates, candidate_key)
        self.shared_warehouse.write(
            "prompts", prompts_table(candidate), suite=suite_name, candidate=candidate_key
        )
        return Stored(candidate.prompt_sha, {"characters": len(candidate.prompt)})

    def run_shard(self, cell: Cell, shard: Shard) -> TracePart:
        """See `trace_results.run_shard`."""
        return run_shard(self, cell, shard)

    def store_traces(self, cell: Cell, parts: Sequence[TracePart] = ()) -> Stored:
        """See `trace_results.store_traces`."""
        return store_traces(self, cell, parts)

    def score_shard(self, cell: Cell, shard: Shard) -> CheckPart:
        """See `check_results.score_shard`."""
        return score_shard(self, cell, shard)

    def store_scores(self, cell: Cell, parts: Sequence[CheckPart] = ()) -> Stored:
        """See `check_results.store_scores`."""
        return store_scores(self, cell, parts)

    def store_report(self, cell: Cell) -> tuple[StageReport, Stored]:
        """See `report_results.store_report`."""
        return store_report(self, cell)

    def build_report(self, cell: Cell) -> StageReport:
        """See `report_results.build_report`."""
        return build_report(self, cell)

    def build_outcomes(self, cell: Cell) -> Outcomes:
        """See `report_results.build_outcomes`."""
        return build_outcomes(self, cell)

    def read_traces(self, cell: Cell) -> list[AgentTrace]:
        """The stored traces of a cell.

        Raises:
            NotStoredError: when there are none.
        """
        return traces_from(self._read(cell, "traces"))

    def read_checks(self, cell: Cell) -> list[CheckResult]:
        """The stored outcomes of a cell.

        Raises:
            NotStoredError: when there are none.
        """
        return checks_from(self._read(cell, "stage_scores"))

    def count_origins(self, cells: Sequence[Cell]) -> dict[str, Counter[str]]:
        """How many `traces` and `checks` of these cells were carried over, replayed or called.

        Raises:
            NotStoredError: when there are none.
        """
        counted = {"traces": Counter[str](), "checks": Counter[str]()}
        for cell in cells:
            for name, asset in (("traces", "traces"), ("checks", "stage_scores")):
                for part in self.warehouse.open(asset, **cell_keys(cell)).parts(ORIGIN_COLUMNS):
                    counted[name].update(row_origins(part))
        return counted

    def rebuild_catalogue(self) -> None:
        """Make the DuckDB views anew, over what is stored and what the checkout declares."""
        suites = [suite for suite in find_suites(self.data_root) if isinstance(suite, Suite)]
        Warehouse(self.warehouse_root).rebuild_catalogue(
            [cell for suite in suites for cell in suite.cells],
            [(suite.name, key) for suite in suites for key in suite.judges],
        )

    def _read(self, cell: Cell, asset: str, columns: Sequence[str] | None = None) -> Any:
        return self.warehouse.read(
            asset, columns=columns, suite=cell.suite, candidate=cell.candidate, dataset=cell.dataset
        )

    def _dataset(self, suite_name: str, dataset_key: str) -> Dataset:
        dataset: Dataset = fresh(self.suite(suite_name).datasets, dataset_key)
        return dataset

    def suite_of(self, cell: Cell) -> Suite:
        """The suite of a cell that it still declares.

        Raises:
            StaleDefinitionsError: when a key of the cell is not what the files say now.
            InputError: when the files cannot be used.
        """
        suite = self.suite(cell.suite)
        fresh(suite.candidates, cell.candidate)
        fresh(suite.datasets, cell.dataset)
        suite.select_cells(cell.candidate, cell.dataset)
        return suite

    def digest_reader(self, suite: Suite) -> Callable[[], Mapping[str, str]] | None:
        """Reads what is recorded, to see what may be carried over; None where nothing is to be."""
        if self.mode == "all" or self.retry_errors or not self.carry_over:
            return None
        return lambda: read_digests(suite.recordings)
