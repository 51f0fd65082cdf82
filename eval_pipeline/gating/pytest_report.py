"""Outcomes of a pytest run, from a pytest-json-report report that carries an `eval` block."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from eval_pipeline.errors import ErrorSource
from eval_pipeline.gating.json_files import parse_json
from eval_pipeline.gating.node_names import split_pytest_id
from eval_pipeline.gating.outcomes import CheckOutcome, EvalBlock, GateOutcome, Outcomes, OutcomesError


class _Metadata(BaseModel):
    """What a test may say of itself through the `json_metadata` fixture; other keys are its own."""

    model_config = ConfigDict(extra="ignore", frozen=True, strict=True)

    repeat: int = Field(default=0, ge=0)
    gating: bool = True
    error_source: ErrorSource | None = None


class _Test(BaseModel):
    """One test of the report; phases, captured output and the rest are not ours to read."""

    model_config = ConfigDict(extra="ignore", frozen=True, strict=True)

    nodeid: str = Field(min_length=1)
    outcome: Literal["passed", "failed", "error", "skipped", "xfailed", "xpassed"]
    metadata: _Metadata = Field(default_factory=_Metadata)


_TESTS = TypeAdapter(list[_Test])


def read_pytest_report(data: Mapping[str, Any], place: str) -> Outcomes:
    """The outcomes in a report of pytest-json-report.

    xfailed, xpassed, skipped and error stay what they are. A test that fails by an exception that
    was not its system's doing can say so (`json_metadata["error_source"] = "provider"`): pytest
    calls it failed, and it becomes an error of that source.

    Args:
        data: the report.
        place: the file, to begin each problem with.

    Raises:
        OutcomesError: without an `eval` block, or with tests that cannot be read.
    """
    for key in ("eval", "tests"):
        if key not in data:
            raise OutcomesError(
                f"{place}: a pytest report without `{key}`; "
                "add the block in conftest.py, in the hook pytest_json_modifyreport"
                if key == "eval"
                else f"{place}: a pytest report without `tests`; run pytest without --json-report-omit"
            )
    block = parse_json(data["eval"], EvalBlock, place, OutcomesError, ("eval",))
    tests = parse_json(data["tests"], _TESTS, place, OutcomesError, ("tests",))
    problems = [
        f"{place}: tests[{index}]: {test.outcome}, and yet with error_source {test.metadata.error_source!r}"
        for index, test in enumerate(tests)
        if test.metadata.error_source is not None and test.outcome not in ("failed", "error")
    ]
    if problems:
        raise OutcomesError(problems)
    return Outcomes(block, tuple(map(_outcome, tests)))


def _outcome(test: _Test) -> CheckOutcome:
    case, check = split_pytest_id(test.nodeid)
    outcome: GateOutcome = "error" if test.metadata.error_source else test.outcome
    return CheckOutcome(
        nodeid=test.nodeid,
        case=case,
        check=check,
        outcome=outcome,
        gating=test.metadata.gating,
        repeat=test.metadata.repeat,
        error_source=test.metadata.error_source,
    )
