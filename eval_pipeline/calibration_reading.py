"""`calibration.yaml` of a suite: answers whose defect is known, and sound ones beside them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from eval_pipeline.calibration import CalibrationCase, CalibrationSet, Minimums
from eval_pipeline.cases import id_fault
from eval_pipeline.errors import CaseError, SuiteError
from eval_pipeline.problems import Problems
from eval_pipeline.scores import Stage
from eval_pipeline.suggestions import did_you_mean
from eval_pipeline.suite_files import CalibrationFields
from eval_pipeline.validation import validate
from eval_pipeline.yaml_data import YamlFile
from eval_pipeline.yaml_files import read_yaml

CALIBRATION_FILE = "calibration.yaml"


class _CaseFields(BaseModel):
    """One entry of `cases:`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str
    metrics: list[str] = Field(min_length=1)
    """Stages that it tries."""
    expected: Literal["defect", "sound"]
    wrong: str | None = None
    """What is wrong, in words."""
    input: str
    answer: str | None = None
    context: list[str] = []
    reference: str | None = None


class _FileFields(BaseModel):
    """The whole file."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    version: int = Field(ge=1)
    cases: list[_CaseFields] = Field(min_length=1)


def read_calibration(
    folder: Path, suite: YamlFile, fields: CalibrationFields | None, stages: Sequence[Stage]
) -> CalibrationSet | None:
    """The suite's calibration cases with its minimums; None when it has neither.

    Raises:
        InputError: one problem a line, each with file, line, value and remedy.
    """
    path = folder / CALIBRATION_FILE
    if not path.is_file():
        if fields is not None:
            where = suite.where(("calibration",))
            raise SuiteError(f"{where}: minimums without cases; write {path}, or remove `calibration`")
        return None
    file = read_yaml(path, CaseError)
    parsed = validate(file, _FileFields, error=CaseError)
    problems = Problems()
    problems.add_all(_problems(file, parsed.cases, stages))
    problems.raise_any(CaseError)
    cases = tuple(
        CalibrationCase(
            id=case.id,
            metrics=tuple(case.metrics),
            expected=case.expected,
            wrong=case.wrong,
            input=case.input,
            answer=case.answer,
            context=tuple(case.context),
            reference=case.reference,
        )
        for case in parsed.cases
    )
    problems.add_all(_lacking(file, cases, stages))
    problems.add_all(_equal(file, cases))
    problems.raise_any(CaseError)
    minimums = Minimums() if fields is None else Minimums(**fields.model_dump())
    return CalibrationSet(cases, minimums)


def _problems(file: YamlFile, cases: Sequence[_CaseFields], stages: Sequence[Stage]) -> Iterator[str]:
    names = [stage.name for stage in stages]
    first: dict[str, str] = {}
    for i, case in enumerate(cases):
        where = file.where(("cases", i, "id"))
        if fault := id_fault(case.id):
            yield f"{where}: case id {case.id!r} {fault}"
        if first.setdefault(case.id, where) != where:
            yield f"{where}: duplicate case id {case.id!r}, first at {first[case.id]}; rename one"
        if not case.input.strip():
            yield f"{file.where(('cases', i, 'input'))}: case {case.id!r}: input is blank; write the question"
        if (case.expected == "defect") != bool((case.wrong or "").strip()):
            remedy = "say under `wrong` what the defect is" if case.expected == "defect" else "remove `wrong`"
            yield f"{where}: case {case.id!r} is expected to be {case.expected}; {remedy}"
        for j, metric in enumerate(case.metrics):
            place = file.where(("cases", i, "metrics", j))
            if metric not in names:
                yield f"{place}: no stage {metric!r}{did_you_mean(metric, names)}"
            if case.metrics.index(metric) != j:
                yield f"{place}: {metric!r} is listed twice; list it once"


def _lacking(file: YamlFile, cases: Sequence[CalibrationCase], stages: Sequence[Stage]) -> Iterator[str]:
    """Cases without what one of their metrics needs; one without a judge needs what grounding does."""
    needs = {stage.name: getattr(stage.scorer, "needs", frozenset({"answer", "context"})) for stage in stages}
    for i, case in enumerate(cases):
        for metric in case.metrics:
            for part in sorted(needs[metric]):
                if not case.has(part):
                    yield (
                        f"{file.where(('cases', i, 'id'))}: case {case.id!r}: no {part}, which {metric} "
                        "needs; write it, or take the metric out"
                    )


def _equal(file: YamlFile, cases: Sequence[CalibrationCase]) -> Iterator[str]:
    """Cases that ask a judge what an earlier one asks: its one verdict would count twice, or both ways."""
    first: dict[tuple[object, ...], str] = {}
    for i, case in enumerate(cases):
        for metric in case.metrics:
            earlier = first.setdefault((metric, *case.content), case.id)
            if earlier != case.id:
                yield (
                    f"{file.where(('cases', i, 'id'))}: case {case.id!r} shows {metric} the same as case "
                    f"{earlier!r}; write another answer or context, or take the metric out of one"
                )
