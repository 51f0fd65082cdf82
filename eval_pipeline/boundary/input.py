"""The input of a case for systems that take any JSON."""

from __future__ import annotations

from pydantic import JsonValue, RootModel, field_validator


class AnyInput(RootModel[JsonValue]):
    """Any JSON but nothing at all."""

    @field_validator("root")
    @classmethod
    def _is_something(cls, value: JsonValue) -> JsonValue:
        if value is None or (isinstance(value, str) and not value.strip()):
            raise ValueError("it is empty; write the question")
        return value
