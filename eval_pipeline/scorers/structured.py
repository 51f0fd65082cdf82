"""Structured answers in code: whether a reply fits its schema, and whether a field says what is expected."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict, JsonValue, create_model

from eval_pipeline.cases import Case, Known
from eval_pipeline.content_hash import canonical_json, sha12
from eval_pipeline.errors import SuiteError
from eval_pipeline.scores import Score
from eval_pipeline.structured_replies import fit_reply, parse_reply
from eval_pipeline.suggestions import did_you_mean
from eval_pipeline.traces import AgentTrace
from eval_pipeline.user_code import import_named


@dataclass(frozen=True)
class MatchesSchema:
    """Whether the structured answer, or the answer's text where there is none, fits a pydantic model.

    Read strictly: JSON alone, nothing converted or mended, no field too many. The value is 1.0 or 0.0.
    """

    version: ClassVar[int] = 1
    judged: ClassVar[bool] = False

    schema: str
    """`package.module:Model`, a pydantic model."""
    schema_sha: str = field(init=False)
    """12 digits of its JSON schema's hash, so that a changed model shows as a changed check."""

    class Expected(BaseModel):
        """Nothing: the check applies to every case."""

        model_config = ConfigDict(extra="forbid")

    def __post_init__(self) -> None:
        """Find the model.

        Raises:
            ValueError: when there is none of that name.
        """
        object.__setattr__(self, "schema_sha", sha12(self._model.model_json_schema()))

    @property
    def named_modules(self) -> tuple[str, ...]:
        """Whose code decides beside this module's: an edit there scores anew."""
        return (self.schema.partition(":")[0],)

    @cached_property
    def _model(self) -> type[BaseModel]:
        return import_model(self.schema)

    def problems(self, case: Case, known: Known) -> list[str]:
        """None: nothing is expected of a case."""
        return []

    def applies(self, case: Case) -> bool:
        """Always."""
        return True

    def score(self, case: Case, trace: AgentTrace) -> Score:
        """Score one trace."""
        name = self._model.__name__
        try:
            data = parse_reply(trace.answer or "") if trace.structured is None else trace.structured
        except ValueError as failure:
            return Score(0.0, f"the reply is not JSON: {failure}", passed=False)
        try:
            fit_reply(data, self._model)
        except ValueError as failure:
            return Score(0.0, f"the reply is no {name}: {failure}", passed=False)
        return Score(1.0, f"the reply is a whole {name}", passed=True)


@dataclass(frozen=True)
class FieldEquals:
    """Whether one field of the structured answer equals what the case expects under the field's name.

    Equal as JSON: `1` is not `true`. The value is 1.0 or 0.0.
    """

    version: ClassVar[int] = 1
    judged: ClassVar[bool] = False

    field: str
    """Name of the field, and of the key in a case's `expected`."""
    schema: str | None = None
    """`package.module:Model`: expected values must be of the field's type there. Left out: any JSON."""

    def __post_init__(self) -> None:
        """Refuse a field that no case could name.

        Raises:
            ValueError: when it is no usable key, or the model has no such field.
        """
        if not self.field.isidentifier() or self.field.startswith("_") or hasattr(BaseModel, self.field):
            raise ValueError(f"field: {self.field!r} cannot be a key of `expected`; use another name")
        if self.schema is not None and self.field not in (fields := import_model(self.schema).model_fields):
            raise ValueError(f"field: {self.schema} has no {self.field!r}{did_you_mean(self.field, fields)}")

    @cached_property
    def Expected(self) -> type[BaseModel]:
        """What a case expects of the field; left out, the check does not apply."""
        kind: Any = JsonValue
        if self.schema is not None:
            kind = import_model(self.schema).model_fields[self.field].annotation
        fields: dict[str, Any] = {self.field: (kind | None, None)}
        return create_model("Expected", __config__=ConfigDict(extra="forbid"), **fields)

    def problems(self, case: Case, known: Known) -> list[str]:
        """None: `Expected` has said it all."""
        return []

    def applies(self, case: Case) -> bool:
        """Whether the case expects anything of the field."""
        return case.expected.get(self.field) is not None

    def score(self, case: Case, trace: AgentTrace) -> Score:
        """Score one trace, with `details` `expected` and `found`."""
        if (lacking := lacks_field(trace, self.field)) is not None:
            return lacking
        expected, found = case.expected[self.field], trace.structured[self.field]
        equal = canonical_json(found) == canonical_json(expected)
        reason = f"{self.field} is {found!r}" + ("" if equal else f" instead of {expected!r}")
        details = {"expected": expected, "found": found}
        return Score(float(equal), reason, passed=equal, details=details)


def lacks_field(trace: AgentTrace, name: str) -> Score | None:
    """The failure of a check whose field the answer does not have; None when it has it.

    A failure and no error: the system did answer, and its answer cannot be used.
    """
    if not isinstance(trace.structured, Mapping):
        return Score(0.0, f"there is no structured answer, and so no {name}", passed=False)
    if name not in trace.structured:
        return Score(0.0, f"the structured answer has no {name}", passed=False)
    return None


def import_model(name: str) -> type[BaseModel]:
    """The pydantic model named `package.module:Model`.

    Raises:
        ValueError: when there is none.
    """
    module_name, _, model_name = name.partition(":")
    try:
        module = import_named(module_name, f"schema: {name!r}")
    except SuiteError as failure:
        raise ValueError(str(failure)) from failure
    model = getattr(module, model_name, None)
    if not (isinstance(model, type) and issubclass(model, BaseModel)):
        models = [key for key, value in vars(module).items() if isinstance(value, type)]
        raise ValueError(f"schema: {name!r} is no pydantic model{did_you_mean(model_name, models)}")
    return model
