"""From `datasets/*.yaml` and the folders beside it to the suite's datasets."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, create_model

from eval_pipeline.case_reading import read_cases
from eval_pipeline.cases import Case, CaseFields, CaseFile, DatasetFields, Known
from eval_pipeline.dataset_includes import with_included
from eval_pipeline.datasets import Dataset
from eval_pipeline.documents import read_documents, read_fixtures
from eval_pipeline.errors import CaseError
from eval_pipeline.kept_cases import join_cases
from eval_pipeline.problems import SHOWN, Problems
from eval_pipeline.scores import REQUESTS, Stage
from eval_pipeline.suggestions import did_you_mean
from eval_pipeline.suites import name_fault, partition_key, slug
from eval_pipeline.system_spec import SystemSpec
from eval_pipeline.user_code import describe_failure
from eval_pipeline.validation import validate

DATASET_ENDINGS = (".yaml", ".yml", ".jsonl")
LIKE_DATASETS = (*DATASET_ENDINGS, ".json", ".csv")


def read_datasets(
    folder: Path, system: SystemSpec, stages: Sequence[Stage], repeats: int = 1
) -> Mapping[str, Dataset]:
    """Every dataset of a suite by key, in the order of the names.

    Args:
        folder: the suite's folder.
        system: the system that the cases are for.
        stages: whose scorers say what a case may expect.
        repeats: how often a case is run where its dataset does not say so.

    Raises:
        InputError: one problem a line, each with file, line, value and remedy.
    """
    paths = _dataset_paths(folder / "datasets")
    fields = _dataset_fields(stages)
    problems = Problems()
    files: dict[str, CaseFile] = {}
    for path in paths:
        with problems:
            files[path.stem] = read_cases(path, fields)
    if any(read.includes for read in files.values()):
        problems.raise_any()  # one that cannot be read may be one that another includes
    datasets: list[Dataset] = []
    for name in files:
        with problems:
            datasets.append(_dataset(name, files, folder, system, stages, repeats))
    problems.raise_any()
    return {partition_key(dataset.name, dataset.sha): dataset for dataset in datasets}


def _dataset_paths(folder: Path) -> list[Path]:
    """The dataset files, each with a usable name of its own; nothing that might be one is passed over."""
    found = sorted(path for path in folder.glob("*") if not path.name.startswith("."))
    paths = [path for path in found if path.suffix in DATASET_ENDINGS]
    problems = Problems()
    for path in found:
        if path.suffix.lower() in LIKE_DATASETS and path not in paths:
            proper = path.with_suffix(".yaml").name
            problems.add(
                f"{path}: a dataset is a .yaml or .jsonl file; save it as {proper}, or move it elsewhere"
            )
    if not paths:
        problems.add(f"{folder}: no dataset; add datasets/<name>.yaml with its cases")
    first: dict[str, Path] = {}
    for path in paths:
        name = slug(path.stem)
        if fault := name_fault(path.stem):
            problems.add(f"{path}: the dataset's name {fault}")
        other = first.setdefault(name, path)
        if other != path:
            problems.add(
                f"{path}: datasets {other.name} and {path.name} are both {name!r} in keys; rename one"
            )
    problems.raise_any()
    return paths


def _dataset_fields(stages: Sequence[Stage]) -> type[DatasetFields]:
    """The dataset model whose cases may expect just what the suite's scorers read."""
    models = dict.fromkeys(stage.scorer.Expected for stage in stages)
    bases = tuple(
        model for model in models if not any(model in other.__mro__[1:] for other in models)
    )  # of a scorer and one that extends it, the extended one says it all
    one_of: Any = Literal
    requestable = tuple(stage.name for stage in stages if stage.on_request)
    checks: dict[str, Any] = {REQUESTS: (list[one_of[requestable]], [])} if requestable else {}
    expected = create_model("Expected", __base__=bases, **checks)
    required = any(field.is_required() for field in expected.model_fields.values())
    case = create_model("Case", __base__=CaseFields, expected=(expected, ... if required else expected()))
    return create_model("Dataset", __base__=DatasetFields, cases=(list[case], ...))  # type: ignore[valid-type]


def _dataset(
    name: str,
    files: Mapping[str, CaseFile],
    folder: Path,
    system: SystemSpec,
    stages: Sequence[Stage],
    repeats: int,
) -> Dataset:
    parts = with_included(name, files)
    read = files[name]
    problems = Problems()
    with problems:
        fixtures = read_fixtures(_folder(read, folder, "fixtures"))
    with problems:
        documents = read_documents(_folder(read, folder, "documents"))
        known = Known(frozenset(document.id for document in documents), system.tools)
        for part in parts:
            problems.add_all(islice(_expectation_problems(part, stages, known), SHOWN + 1))
    problems.add_all(islice(_input_problems(read, system.input), SHOWN + 1))
    problems.raise_any(CaseError)
    cases = join_cases([part.cases for part in parts])
    return Dataset(name, read.version, cases, documents, fixtures, read.repeats or repeats)


def _folder(read: CaseFile, suite: Path, key: str) -> Path:
    """The folder of the pages or fixtures, inside the suite's folder; only the usual one may be missing."""
    chosen: str = getattr(read, key)
    folder = Path(os.path.normpath(suite / chosen))
    if key not in read.file.data:
        return folder
    where = f"{read.file.where((key,))}: {key}"
    if Path(os.path.normpath(suite)) not in folder.parents:
        raise CaseError(f"{where}: {chosen!r} is not a folder inside the suite's folder")
    if not folder.is_dir():
        known = [path.name for path in suite.glob("*") if path.is_dir()]
        raise CaseError(f"{where}: no folder {folder}{did_you_mean(chosen, known)}")
    return folder


def _input_problems(read: CaseFile, model: type[BaseModel] | None) -> Iterator[str]:
    """Inputs that are not words, or not what the system's `Input` says."""
    for i, case in enumerate(read.cases):
        place = ("cases", i, "input")
        if model is not None:
            # Of a large file only the case's own part is at hand.
            file = replace(read.file, data={"cases": {i: {"input": case.input}}})
            try:
                validate(file, model, place=place, error=CaseError)
            except CaseError as failure:
                yield from failure.problems
        elif not isinstance(case.input, str):
            shown = read.file.written.get(place, case.input)
            where = f"{read.file.where(place)}: case {case.id!r}: input"
            yield f"{where} `{shown}` is not text; put the question in quotes"
        elif not case.input.strip():
            where = f"{read.file.where(place)}: case {case.id!r}: input"
            yield f"{where} is empty; write the question"


def _expectation_problems(read: CaseFile, stages: Sequence[Stage], known: Known) -> Iterator[str]:
    """What the scorers find wrong, such as an expected page that does not exist."""
    for i, case in enumerate(read.cases):
        found = (text for stage in stages for text in _scorer_problems(stage, case, known))
        for text in dict.fromkeys(found):  # scorers that read one key find the same fault
            key = re.match(r"expected\.(\w+)", text)
            place = ("cases", i, "expected", key[1]) if key else ("cases", i, "id")
            yield f"{read.file.where(place)}: case {case.id!r}: {text}"


def _scorer_problems(stage: Stage, case: Case, known: Known) -> list[str]:
    if not stage.requested(case):
        return []
    try:
        return stage.scorer.problems(case, known)
    except Exception as failure:  # a user's scorer may raise anything
        return [f"stage {stage.name!r} cannot check it: {describe_failure(failure)}"]
