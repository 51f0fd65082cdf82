"""Our own outcomes file: an `eval` block and `tests`, written one test a line so that it can be reviewed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated, Any, Literal, NotRequired

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, with_config
from typing_extensions import TypedDict

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
from eval_pipeline.outcome_names import Outcome

FORMAT: Literal["eval-outcomes/1"] = "eval-outcomes/1"
_SHOWN_PROBLEMS = 20


_Count = Annotated[int, Field(ge=0)]


@with_config(extra="forbid", strict=True)
class _TestFields(TypedDict):
    """One line of `tests`; a plain mapping, for there may be a hundred thousand."""

    nodeid: str
    repeat: NotRequired[_Count]
    judge_repeat: NotRequired[_Count]
    outcome: Outcome
    gating: NotRequired[bool]
    error_source: NotRequired[ErrorSource | None]


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
    return Outcomes(
        eval=block,
        tests=read_tests(data["tests"], block, place),
        usage=fields.usage,
        calibration=fields.calibration,
        imported=imported,
    )


def read_tests(data: Any, block: EvalBlock, place: str) -> tuple[CheckOutcome, ...]:
    """The tests of a file of our own from its plain data; arguments and errors are of `read_own_outcomes`."""
    taken, problems = [], []
    fields = parse_json(data, _TESTS, place, OutcomesError, ("tests",))
    for index, test in enumerate(fields):
        nodeid, outcome, source = test["nodeid"], test["outcome"], test.get("error_source")
        names = split_node_id(nodeid)
        if names is None:
            problems.append(f"{place}: tests[{index}].nodeid: {nodeid!r} is not suite::case::check")
            continue
        suite, case, check = names
        if suite != block.suite and block.suite is not None:
            problems.append(f"{place}: tests[{index}].nodeid: {nodeid!r} is not of suite {block.suite!r}")
        if (outcome == "error") != (source is not None) and outcome != "not_measured":
            problems.append(f"{place}: tests[{index}]: {_source_problem(outcome, source)}")
        repeat, judge_repeat = test.get("repeat", 0), test.get("judge_repeat", 0)
        gating = test.get("gating", True)
        taken.append(CheckOutcome(nodeid, case, check, outcome, gating, repeat, judge_repeat, source))
    if problems:
        raise OutcomesError(problems[:_SHOWN_PROBLEMS])
    return tuple(taken)


def _source_problem(outcome: Outcome, source: ErrorSource | None) -> str:
    if source is None:
        return "an error without error_source; say system, provider, judge or scorer"
    return f"{outcome}, and yet with error_source {source!r}; remove one"


def outcomes_text(outcomes: Outcomes) -> str:
    """A run's outcomes as the text of a file: stable, one test a line, made to be reviewed."""
    tests = ",".join(map(line_of, outcomes.tests))
    return f"{outcomes_begin(outcomes)}{tests}{outcomes_end(any_tests=bool(outcomes.tests))}"


def outcomes_begin(outcomes: Outcomes) -> str:
    """What stands before the tests; each is put there by `line_of`, a comma after each but the last."""
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
    return f'{json.dumps(head, indent=2)[:-2]},\n  "tests": ['


def line_of(test: CheckOutcome) -> str:
    """A test as it stands in the file."""
    return f"\n    {json.dumps(_test_line(test))}"


def outcomes_end(*, any_tests: bool) -> str:
    """What stands after the tests."""
    return "\n  ]\n}\n" if any_tests else "]\n}\n"


def _test_line(test: CheckOutcome) -> dict[str, Any]:
    line: dict[str, Any] = {"nodeid": test.nodeid, "repeat": test.repeat}
    if test.judge_repeat:
        line["judge_repeat"] = test.judge_repeat
    return line | {"outcome": test.outcome, "gating": test.gating, "error_source": test.error_source}
