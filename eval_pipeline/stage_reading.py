"""From the `stages:` of a suite to its quality ladder, each scorer imported and its parameters checked."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import Any, cast

from pydantic import BaseModel
from pydantic.errors import PydanticUserError

from eval_pipeline.errors import SuiteError
from eval_pipeline.problems import Problems
from eval_pipeline.report.json_form import ROW_FIELDS
from eval_pipeline.scores import REQUESTS, Gating, JudgedScorer, Scorer, Stage
from eval_pipeline.suggestions import did_you_mean
from eval_pipeline.suite_files import StageFields
from eval_pipeline.user_code import describe_failure, import_named
from eval_pipeline.validation import show_place, validate
from eval_pipeline.yaml_data import YamlFile

SCORER_PARTS = ("version", "judged", "Expected", "problems", "applies", "score")
JUDGED_PARTS = ("needs", "rubric")


def read_stages(file: YamlFile, declared: Sequence[StageFields]) -> tuple[Stage, ...]:
    """The stages in their order.

    Raises:
        SuiteError: one problem a line, each with file, line, value and remedy.
    """
    problems = Problems()
    stages: list[Stage] = []
    first: dict[str, str] = {}
    for i, fields in enumerate(declared):
        where = file.where(("stages", i, "name"))
        if fields.name in first:
            problems.add(
                f"{where}: stage {fields.name!r} stands twice, first at {first[fields.name]}; rename one"
            )
        first.setdefault(fields.name, where)
        if fields.name in ROW_FIELDS:
            problems.add(f"{where}: stage {fields.name!r} has the name of a report's own field; rename it")
        with problems:
            stages.append(_stage(file, i, fields))
    problems.raise_any()
    problems.add_all(_conflicts(file, stages))
    problems.raise_any()
    return tuple(stages)


def _stage(file: YamlFile, index: int, fields: StageFields) -> Stage:
    what = f"{file.where(('stages', index, 'scorer'))}: scorer {fields.scorer!r}"
    scorer_class = _scorer_class(fields.scorer, what)
    try:
        scorer = validate(file, scorer_class, place=("stages", index, "parameters"), error=SuiteError)
    except SuiteError:
        raise
    except PydanticUserError as failure:  # a field of a type that no file could give
        raise SuiteError(f"{what}: its fields cannot be checked: {failure.message}") from failure
    except Exception as failure:  # a user's class may raise anything
        raise SuiteError(f"{what} refuses its parameters: {describe_failure(failure)}") from failure
    _refuse_odd_expected(scorer, what)
    default: Gating = "when_calibrated" if scorer.judged else "always"
    threshold = _threshold(file, index, fields, scorer)
    return Stage(fields.name, scorer, threshold, fields.gating or default, fields.on_request)


def _refuse_odd_expected(scorer: Scorer | JudgedScorer, what: str) -> None:
    """Read of the scorer and not of its class, as it may depend on the parameters."""
    try:
        expected: object = scorer.Expected
    except Exception as failure:  # a user's property may raise anything
        raise SuiteError(f"{what}: its Expected cannot be had: {describe_failure(failure)}") from failure
    if not (isinstance(expected, type) and issubclass(expected, BaseModel)):
        raise SuiteError(f"{what}: Expected is not a pydantic model")


def _threshold(file: YamlFile, index: int, fields: StageFields, scorer: object) -> float:
    """The threshold as scores are stored, from 0 to 1: the file has it in the scorer's own scale."""
    low, high = getattr(scorer, "scale", (0, 1))
    if fields.threshold is None:
        return 1.0
    if not low <= fields.threshold <= high:
        place = ("stages", index, "threshold")
        raise SuiteError(
            f"{file.where(place)}: {show_place(place)}: `{file.written.get(place, fields.threshold)}` is not "
            f"from {low} to {high}, which is the scale of this scorer"
        )
    return float((fields.threshold - low) / (high - low))


def _scorer_class(name: str, what: str) -> type[Scorer | JudgedScorer]:
    module_name, _, class_name = name.partition(":")
    module = import_named(module_name, what)
    found: Any = getattr(module, class_name, None)
    if found is None:
        classes = [key for key, value in vars(module).items() if isinstance(value, type)]
        raise SuiteError(f"{what}: no class {class_name!r} there{did_you_mean(class_name, classes)}")
    parts = (*SCORER_PARTS, *(JUDGED_PARTS if getattr(found, "judged", False) else ()))
    missing = [part for part in parts if not hasattr(found, part)]
    if not isinstance(found, type) or not dataclasses.is_dataclass(found) or missing:
        lacks = f" with {', '.join(missing)}" if missing else ""
        raise SuiteError(f"{what} is no scorer: a scorer is a dataclass{lacks}")
    return cast("type[Scorer | JudgedScorer]", found)


def _conflicts(file: YamlFile, stages: Sequence[Stage]) -> Iterator[str]:
    """Keys of `expected` that two scorers read as different things, or that a scorer takes from us."""
    first: dict[str, tuple[str, Any]] = {}
    for i, stage in enumerate(stages):
        if REQUESTS in stage.scorer.Expected.model_fields and any(other.on_request for other in stages):
            yield (
                f"{file.where(('stages', i, 'scorer'))}: stage {stage.name!r} reads expected.{REQUESTS}, "
                "where cases name the stages they ask for; rename its key"
            )
        for key, field in stage.scorer.Expected.model_fields.items():
            other, annotation = first.setdefault(key, (stage.name, field.annotation))
            if annotation != field.annotation:
                yield (
                    f"{file.where(('stages', i, 'scorer'))}: stages {other!r} and {stage.name!r} read "
                    f"expected.{key} as different types ({annotation} and {field.annotation}); rename one key"
                )
