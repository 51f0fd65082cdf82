"""From the files of `data/<suite>/` to a `Suite`, with every problem named by file and line."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from eval_pipeline.calibration_reading import read_calibration
from eval_pipeline.candidate_reading import make_cells, read_candidates
from eval_pipeline.content_hash import sha12
from eval_pipeline.dataset_reading import read_datasets
from eval_pipeline.errors import InputError, SuiteError
from eval_pipeline.fingerprints import note_imported
from eval_pipeline.gating.policy import read_policy
from eval_pipeline.problems import Problems, shorten
from eval_pipeline.scores import Stage
from eval_pipeline.stage_reading import read_stages
from eval_pipeline.suggestions import did_you_mean
from eval_pipeline.suite_cache import read_once
from eval_pipeline.suite_files import SuiteFields
from eval_pipeline.suites import Suite
from eval_pipeline.system_reading import read_system
from eval_pipeline.system_spec import SystemSpec
from eval_pipeline.user_code import describe_failure
from eval_pipeline.validation import validate
from eval_pipeline.yaml_data import YamlFile
from eval_pipeline.yaml_files import read_yaml

SUITE_FILE = "suite.yaml"
POLICY_FILE = "policy.yaml"


@dataclass(frozen=True)
class BrokenSuite:
    """A suite whose files cannot be used, with the reason; the others go on without it."""

    name: str
    """The folder's name, or a like one that is a valid name and no other suite's."""
    folder: Path
    error: InputError


def find_suites(data_root: Path) -> list[Suite | BrokenSuite]:
    """Every folder of `data_root` that holds a `suite.yaml`, sorted by name."""
    return [_read_or_report(folder) for folder in _suite_folders(data_root)]


def find_suite(data_root: Path, name: str) -> Suite:
    """The suite of that name.

    Raises:
        InputError: when there is none, or its files cannot be used.
    """
    folders = {folder.name: folder for folder in _suite_folders(data_root)}
    if name not in folders:
        remedy = did_you_mean(name, folders) or "; set EVAL_DATA to the folder that holds suites"
        raise SuiteError(f"{data_root}: no suite {name!r}{remedy}")
    return read_once(folders[name], read_suite)


def _suite_folders(data_root: Path) -> list[Path]:
    found = {path.parent for pattern in (SUITE_FILE, "suite.yml") for path in data_root.glob(f"*/{pattern}")}
    return sorted(folder for folder in found if not folder.name.startswith("."))


def _read_or_report(folder: Path) -> Suite | BrokenSuite:
    try:
        return read_once(folder, read_suite)
    except InputError as error:
        name = folder.name
        if not _is_name(name):
            name = f"{re.sub(r'[^A-Za-z0-9]', '_', name)}_{sha12(name)[:6]}"
        return BrokenSuite(name, folder, error)


def _is_name(name: str) -> bool:
    return re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name) is not None


def read_suite(folder: Path) -> Suite:
    """Read and check everything a suite declares.

    Raises:
        InputError: one problem a line, each with file, line, value and remedy.
    """
    try:
        return _read_suite(folder)
    except InputError as failure:
        raise type(failure)(shorten(failure.problems)) from failure
    except Exception as failure:  # models and scorers of the suite run here, and may raise anything
        raise SuiteError(f"{folder}: cannot be read: {describe_failure(failure)}") from failure


def _read_suite(folder: Path) -> Suite:
    if not _is_name(folder.name):
        raise SuiteError(
            f"{folder}: a suite's folder is named with letters, digits and '_', and no digit first; rename it"
        )
    if not (folder / SUITE_FILE).exists() and (folder / "suite.yml").exists():
        raise SuiteError(f"{folder / 'suite.yml'}: rename it to {SUITE_FILE}")
    make_importable(folder.resolve().parent.parent)
    file = read_yaml(folder / SUITE_FILE, SuiteError)
    fields = validate(file, SuiteFields, error=SuiteError)
    problems = Problems()
    with problems:
        system = read_system(fields.system, file.where(("system",)))
    with problems:
        stages = read_stages(file, fields.stages)
    problems.raise_any()
    _note_imported(system, stages)
    with problems:
        datasets = read_datasets(folder, system, stages, fields.repeats)
    with problems:
        candidates = read_candidates(file, folder, fields.candidates, system)
    with problems:
        calibration = read_calibration(folder, file, fields.calibration, stages)
    with problems:
        policy = read_policy(folder / POLICY_FILE) if (folder / POLICY_FILE).exists() else None
    problems.add_all(_judge_problems(file, fields, stages))
    problems.raise_any()
    return Suite(
        name=folder.name,
        folder=folder,
        description=fields.description or "",
        system=system,
        stages=stages,
        candidates=candidates,
        datasets=datasets,
        cells=make_cells(file, folder.name, fields.candidates, candidates, datasets),
        judge=fields.judge,
        calibration=calibration,
        policy=policy,
        shards=fields.shards,
    )


def _note_imported(system: SystemSpec, stages: Sequence[Stage]) -> None:
    """Remember the code that this process runs from now on, whatever the files will say later."""
    for module in dict.fromkeys(type(stage.scorer).__module__ for stage in stages):
        note_imported(module)
    if system.recorded_as is None:
        note_imported(system.module)


def _judge_problems(file: YamlFile, fields: SuiteFields, stages: Sequence[Stage]) -> Iterator[str]:
    """Candidates whose judged stages nobody judges."""
    judged = next((stage.name for stage in stages if stage.scorer.judged), None)
    for name, candidate in fields.candidates.items():
        if judged and candidate.judge is None and fields.judge is None:
            yield (
                f"{file.where(('candidates', name))}: stage {judged!r} is judged, and candidate {name!r} "
                "has no judge; name one under `judge`, of the candidate or of the suite"
            )


def make_importable(project: Path) -> None:
    """Systems and scorers may live beside the data folder, whatever command reads the suite."""
    if str(project) not in sys.path:
        sys.path.append(str(project))
