"""A suite: one system under test with its datasets, candidates and stages, read from `data/<suite>/`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from eval_pipeline.calibration import CalibrationSet
from eval_pipeline.content_hash import content_hash
from eval_pipeline.datasets import Dataset
from eval_pipeline.errors import SuiteError
from eval_pipeline.gating.policy import Policy
from eval_pipeline.judges import Judge
from eval_pipeline.model_settings import EmbedderSettings, ModelSettings
from eval_pipeline.recordings.request import Role
from eval_pipeline.scores import Stage
from eval_pipeline.suggestions import did_you_mean
from eval_pipeline.system_spec import SystemSpec


@dataclass(frozen=True)
class Candidate:
    """One configuration of the system: model, prompt, embedder and parameters."""

    name: str
    model: ModelSettings | None
    prompt_version: str | None
    prompt: str
    embedder: EmbedderSettings | None
    parameters: Mapping[str, Any]
    description: str | None = None
    judge: ModelSettings | None = None
    """The judge of its answers, where it is not the suite's; no part of its key."""
    nightly: bool = False
    """Whether the nightly schedule asks it anew; no part of its key."""

    @cached_property
    def prompt_sha(self) -> str:
        """Hash of the prompt's text."""
        return content_hash(self.prompt)

    @cached_property
    def sha(self) -> str:
        """Hash of everything that makes it answer as it does."""
        return content_hash(
            {
                "model": None if self.model is None else self.model.identity,
                "prompt": self.prompt,
                "embedder": None if self.embedder is None else self.embedder.identity,
                "parameters": dict(self.parameters),
            }
        )


@dataclass(frozen=True)
class Cell:
    """One candidate on one dataset: what is materialized, scored and reported together."""

    suite: str
    candidate: str
    """Key of the candidate."""
    dataset: str
    """Key of the dataset."""

    @property
    def partition(self) -> str:
        """The multi-partition key: dimensions in the order of their names."""
        return f"{self.candidate}|{self.dataset}"


@dataclass(frozen=True)
class Suite:
    """One system under test with everything needed to evaluate it."""

    name: str
    folder: Path
    description: str
    system: SystemSpec
    stages: tuple[Stage, ...]
    candidates: Mapping[str, Candidate]
    """By key, in the order of the file."""
    datasets: Mapping[str, Dataset]
    """By key, in the order of the names."""
    cells: tuple[Cell, ...]
    """The declared combinations."""
    judge: ModelSettings | None = None
    """The judge of the candidates that name none."""
    calibration: CalibrationSet | None = None
    policy: Policy | None = None
    """The rules of its gate; None where it has no `policy.yaml`, and the defaults hold."""
    shards: int = 1
    """Parts that each cell's work is cut into; they change no result."""

    def judge_of(self, candidate_key: str) -> Judge | None:
        """Who judges a candidate's answers; None where no stage is judged or nobody is named."""
        model = self.candidates[candidate_key].judge or self.judge
        return None if model is None or self._rubric_sha is None else Judge(model, self._rubric_sha)

    @cached_property
    def judges(self) -> Mapping[str, Judge]:
        """The judges of its candidates, by the key of their calibration."""
        found = (self.judge_of(key) for key in self.candidates)
        return {self.calibration_key(judge): judge for judge in found if judge is not None}

    def calibration_key(self, judge: Judge) -> str:
        """The key of a judge's calibration: it changes with the judge and with the calibration cases."""
        cases = None if self.calibration is None else self.calibration.sha
        return partition_key(judge.model.name, content_hash([judge.id, cases]))

    def select_judges(self, name: str | None = None) -> Mapping[str, Judge]:
        """The judges of a model's name or of a calibration key; None means all.

        Raises:
            SuiteError: when there is none.
        """
        if not self.judges:
            raise SuiteError(f"suite {self.name!r} has no judge; name one under `judge` in suite.yaml")
        found = {key: judge for key, judge in self.judges.items() if name in (None, key, judge.model.name)}
        if not found:
            names = [judge.model.name for judge in self.judges.values()]
            raise SuiteError(f"suite {self.name!r} has no judge {name!r}{did_you_mean(name or '', names)}")
        return found

    @cached_property
    def _rubric_sha(self) -> str | None:
        """Hash of all that judges are asked with beside the cases; None without a judged stage."""
        judged = [stage for stage in self.stages if stage.scorer.judged]
        rubrics = {
            stage.name: dict(stage.scorer.rubric()) for stage in judged if hasattr(stage.scorer, "rubric")
        }
        return content_hash(rubrics) if judged else None

    @property
    def recordings(self) -> Path:
        """Folder of the committed recordings."""
        return self.folder / "recordings"

    @cached_property
    def in_use(self) -> Mapping[Role, frozenset[str]]:
        """By role: names of the models and embedders, and 12 hash digits of the prompts, it asks with now."""
        candidates = self.candidates.values()
        agents = {self.system.model_asked(candidate.model) for candidate in candidates}
        agents |= {candidate.embedder.name for candidate in candidates if candidate.embedder}
        agents |= {candidate.prompt_sha[:12] for candidate in candidates}
        judges = {judge.name for judge in (self.judge, *(one.judge for one in candidates)) if judge}
        return {"agent": frozenset(agents), "judge": frozenset(judges)}

    @property
    def baselines(self) -> Path:
        """Folder of the accepted outcomes, one file a dataset name."""
        return self.folder / "baselines"

    def baseline_file(self, dataset_key: str) -> Path:
        """Where a dataset's accepted outcomes are: by its name, so that a changed dataset finds them."""
        return self.baselines / f"{slug(self.datasets[dataset_key].name)}.json"

    @property
    def nightly_cells(self) -> tuple[Cell, ...]:
        """The cells that the nightly schedule asks anew."""
        return tuple(cell for cell in self.cells if self.candidates[cell.candidate].nightly)

    def candidate_key(self, name: str) -> str:
        """The key of a candidate given by name or key.

        Raises:
            SuiteError: when there is none.
        """
        return _resolve(name, self.candidates, f"suite {self.name!r} has no candidate")

    def dataset_key(self, name: str) -> str:
        """The key of a dataset given by name or key.

        Raises:
            SuiteError: when there is none.
        """
        return _resolve(name, self.datasets, f"suite {self.name!r} has no dataset")

    def select_cells(self, candidate: str | None = None, dataset: str | None = None) -> tuple[Cell, ...]:
        """The declared cells of a candidate and a dataset, each given by name or key; None means all.

        Raises:
            SuiteError: for unknown names, and when the suite declares no such cell.
        """
        candidate_key = None if candidate is None else self.candidate_key(candidate)
        dataset_key = None if dataset is None else self.dataset_key(dataset)
        cells = tuple(
            cell
            for cell in self.cells
            if candidate_key in (None, cell.candidate) and dataset_key in (None, cell.dataset)
        )
        if not cells:
            whose = f"dataset {dataset!r}" if candidate is None else f"candidate {candidate!r}"
            where = "" if candidate is None or dataset is None else f" on dataset {dataset!r}"
            raise SuiteError(
                f"suite {self.name!r} does not evaluate {whose}{where}; "
                "add the dataset to a candidate's `datasets` in suite.yaml"
            )
        return cells


LONGEST_NAME = 100
"""Characters of a candidate's or dataset's name, which becomes part of a file name."""


def slug(name: str) -> str:
    """`name` with a dash for each sign that is not safe in partition keys and paths."""
    return re.sub(r"[^A-Za-z0-9._-]|\.{3,}", "-", name)


def name_fault(name: str) -> str | None:
    """What makes a candidate's or dataset's name unusable, or None."""
    if not name.strip():
        return "is empty; give it a short name"
    if len(name) > LONGEST_NAME:
        return f"has {len(name)} characters; use at most {LONGEST_NAME}"
    return None


def partition_key(name: str, sha: str) -> str:
    """`<name>@<first 12 digits>`: readable, and different for different content."""
    return f"{slug(name)}@{sha[:12]}"


def key_name(key: str) -> str:
    """The name in a key."""
    return key.rpartition("@")[0]


def _resolve(name: str, keys: Mapping[str, object], refusal: str) -> str:
    if name in keys:
        return name
    for key in keys:
        if key_name(key) == slug(name):
            return key
        if key_name(key) == key_name(name):
            raise SuiteError(f"{refusal} {name!r}: its files have changed since, its key is now {key!r}")
    raise SuiteError(f"{refusal} {name!r}{did_you_mean(name, [key_name(key) for key in keys])}")
