"""From the `candidates:` of a suite to its candidates and the cells they make with the datasets."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from eval_pipeline.content_hash import canonical_json
from eval_pipeline.datasets import Dataset
from eval_pipeline.errors import SuiteError
from eval_pipeline.problems import Problems
from eval_pipeline.suggestions import did_you_mean
from eval_pipeline.suite_files import CandidateFields
from eval_pipeline.suites import Candidate, Cell, name_fault, partition_key, slug
from eval_pipeline.system_spec import SystemSpec
from eval_pipeline.validation import validate
from eval_pipeline.yaml_data import YamlFile
from eval_pipeline.yaml_files import read_text


def read_candidates(
    file: YamlFile, folder: Path, declared: Mapping[str, CandidateFields], system: SystemSpec
) -> Mapping[str, Candidate]:
    """The candidates by key, in the order of the file.

    Raises:
        SuiteError: one problem a line, each with file, line, value and remedy.
    """
    problems = Problems()
    candidates: list[Candidate] = []
    first: dict[str, str] = {}
    for name, fields in declared.items():
        where = file.where(("candidates", name))
        if fault := name_fault(name):
            problems.add(f"{where}: candidate name {name!r} {fault}")
        other = first.setdefault(slug(name), name)
        if other != name:
            problems.add(
                f"{where}: candidates {other!r} and {name!r} are both {slug(name)!r} in keys; rename one"
            )
        with problems:
            candidates.append(_candidate(file, folder, name, fields, system))
    problems.raise_any()
    return {partition_key(candidate.name, candidate.sha): candidate for candidate in candidates}


def _candidate(
    file: YamlFile, folder: Path, name: str, fields: CandidateFields, system: SystemSpec
) -> Candidate:
    problems = Problems()
    with problems:
        prompt = _prompt(file, folder / "prompts", name, fields.prompt)
    with problems:
        parameters = _parameters(file, name, fields, system)
    if fields.model is None and system.recorded_as is None:
        problems.add(f"{file.where(('candidates', name, 'model'))}: 'candidates.{name}.model' is missing")
    problems.raise_any()
    return Candidate(
        name=name,
        model=fields.model,
        prompt_version=fields.prompt,
        prompt=prompt,
        embedder=fields.embedder,
        parameters=parameters,
        description=fields.description,
        nightly=fields.nightly,
        judge=fields.judge,
    )


def _prompt(file: YamlFile, folder: Path, candidate: str, version: str | None) -> str:
    if version is None:
        return ""
    path = folder / f"{version}.md"
    where = file.where(("candidates", candidate, "prompt"))
    if not path.is_file():
        known = [found.stem for found in folder.glob("*.md") if found.is_file()]
        raise SuiteError(f"{where}: no prompt file {path}{did_you_mean(version, known)}")
    prompt = read_text(path, SuiteError).strip()
    if not prompt:
        raise SuiteError(f"{path}: the prompt is empty; write it, or name no prompt at {where}")
    return prompt


def _parameters(file: YamlFile, name: str, fields: CandidateFields, system: SystemSpec) -> dict[str, Any]:
    """The system's parameters with their defaults, so that a default that changes makes a new key."""
    if system.parameters is None:
        return dict(fields.parameters)
    place = ("candidates", name, "parameters")
    model = validate(file, system.parameters, place=place, error=SuiteError)
    try:
        parameters = model.model_dump(mode="json")
        canonical_json(parameters)
    except (TypeError, ValueError) as failure:
        raise SuiteError(
            f"{file.where(place)}: the system's Parameters are no JSON, so no key can name them: {failure}"
        ) from failure
    return parameters


def make_cells(
    file: YamlFile,
    suite: str,
    declared: Mapping[str, CandidateFields],
    candidates: Mapping[str, Candidate],
    datasets: Mapping[str, Dataset],
) -> tuple[Cell, ...]:
    """The declared combinations: each candidate on its `datasets`, or on all of them.

    Raises:
        SuiteError: when a candidate names a dataset that does not exist.
    """
    names = {dataset.name: key for key, dataset in datasets.items()}
    cells: list[Cell] = []
    problems = Problems()
    for key, candidate in candidates.items():
        for i, name in enumerate(declared[candidate.name].datasets or names):
            if name in names:
                cells.append(Cell(suite, key, names[name]))
                continue
            where = file.where(("candidates", candidate.name, "datasets", i))
            problems.add(f"{where}: no dataset {name!r}{did_you_mean(name, names)}")
    problems.raise_any()
    return tuple(cells)
