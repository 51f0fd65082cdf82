"""Our own outcomes file: an `eval` block and `tests`, written one test a line so that it can be reviewed."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from eval_pipeline.content_hash import content_hash
from eval_pipeline.errors import ErrorSource
from eval_pipeline.gating.json_files import parse_json
from eval_pipeline.gating.node_names import split_node_id
from eval_pipeline.gating.outcomes import (
    CheckOutcome,
    EvalBlock,
    ImportedReport,
    JudgeRecord,
    Outcomes,
    OutcomesError,
    RunUsage,
)
from eval_pipeline.scores import Outcome

FORMAT: Literal["eval-outcomes/1"] = "eval-outcomes/1"
_SHOWN_PROBLEMS = 20


class _TestFields(BaseModel):
    """One line of `tests`."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    nodeid: str
    repeat: int = Field(default=0, ge=0)
    judge_repeat: int = Field(default=0, ge=0)
    outcome: Outcome
    gating: bool = True
    error_source: ErrorSource | None = None


class _FileFields(BaseModel):
    """An outcomes file but for its tests."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    format: Literal["eval-outcomes/1"] = FORMAT
    eval: dict[str, Any]
    usage: RunUsage | None = None
    calibration: dict[str, JudgeRecord] | None = None
    imported: ImportedReport | None = None


_TESTS = TypeAdapter(list[_TestFields])


def read_own_outcomes(data: Mapping[str, Any], place: str) -> Outcomes:
    """The outcomes in a file of our own.

    Args:
        data: the file's plain data, with its `tests`.
        place: the file, to begin each problem with.

    Raises:
        OutcomesError: one problem a line.
    """
    rest = {key: value for key, value in data.items() if key != "tests"}
    fields = parse_json(rest, _FileFields, place, OutcomesError)
    block = parse_json(fields.eval, EvalBlock, place, OutcomesError, ("eval",))
    imported = fields.imported
    if imported is not None and content_hash(imported.contract) != block.dataset_sha:
        raise OutcomesError(f"{place}: eval.dataset_sha is not the hash of imported.contract; import again")
    tests = parse_json(data["tests"], _TESTS, place, OutcomesError, ("tests",))
    return Outcomes(
        eval=block,
        tests=_take_tests(tests, block, place),
        usage=fields.usage,
        calibration=fields.calibration,
        imported=imported,
    )


def _take_tests(tests: Iterable[_TestFields], block: EvalBlock, place: str) -> tuple[CheckOutcome, ...]:
    taken, problems = [], []
    for index, test in enumerate(tests):
        names = split_node_id(test.nodeid)
        if names is None:
            problems.append(f"{place}: tests[{index}].nodeid: {test.nodeid!r} is not suite::case::check")
            continue
        suite, case, check = names
        if suite != block.suite and block.suite is not None:
            problems.append(
                f"{place}: tests[{index}].nodeid: {test.nodeid!r} is not of suite {block.suite!r}"
            )
        if (test.outcome == "error") != (test.error_source is not None) and test.outcome != "not_measured":
            problems.append(f"{place}: tests[{index}]: {_source_problem(test)}")
        taken.append(
            CheckOutcome(
                test.nodeid,
                case,
                check,
                test.outcome,
                test.gating,
                test.repeat,
                test.judge_repeat,
                test.error_source,
            )
        )
    if problems:
        raise OutcomesError(problems[:_SHOWN_PROBLEMS])
    return tuple(taken)


def _source_problem(test: _TestFields) -> str:
    if test.error_source is None:
        return "an error without error_source; say system, provider, judge or scorer"
    return f"{test.outcome}, and yet with error_source {test.error_source!r}; remove one"


def outcomes_text(outcomes: Outcomes) -> str:
    """A run's outcomes as the text of a file: stable, one test a line, made to be reviewed."""
    block = outcomes.eval.model_dump(mode="json")
    head: dict[str, Any] = {
        "format": FORMAT,
        "eval": {name: value for name, value in block.items() if outcomes.eval.known(name)},
    }
    if outcomes.usage is not None:
        head["usage"] = outcomes.usage.model_dump(mode="json")
    if outcomes.calibration is not None:
        head["calibration"] = {
            name: record.model_dump(mode="json") for name, record in outcomes.calibration.items()
        }
    if outcomes.imported is not None:
        head["imported"] = outcomes.imported.model_dump(mode="json")
    lines = ",\n".join(f"    {json.dumps(_test_line(test))}" for test in outcomes.tests)
    tests = f"[\n{lines}\n  ]" if lines else "[]"
    return f'{json.dumps(head, indent=2)[:-2]},\n  "tests": {tests}\n}}\n'


def _test_line(test: CheckOutcome) -> dict[str, Any]:
    line: dict[str, Any] = {"nodeid": test.nodeid, "repeat": test.repeat}
    if test.judge_repeat:
        line["judge_repeat"] = test.judge_repeat
    return line | {"outcome": test.outcome, "gating": test.gating, "error_source": test.error_source}
