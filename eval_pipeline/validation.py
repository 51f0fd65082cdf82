"""Plain data of a file validated as a model, strictly, every problem in the words of the file."""

from __future__ import annotations

import dataclasses
import json
from typing import Any, TypeVar

from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from eval_pipeline.errors import InputError
from eval_pipeline.suggestions import did_you_mean
from eval_pipeline.yaml_data import Place, YamlFile

Value = TypeVar("Value")

UNKNOWN_KEY = ("extra_forbidden", "unexpected_keyword_argument")
FOLDER = "folder"
"""Key of the file's folder in a validation's context, for values that name other files in it."""
KINDS: dict[type, str] = {bool: "a boolean", int: "a number", float: "a number"}


def validate(
    file: YamlFile, model: type[Value], *, place: Place = (), error: type[InputError] = InputError
) -> Value:
    """Validate the value at `place` of a file as `model`; a place that is left out is an empty mapping.

    Unknown keys are refused at every level, unless the model's own config allows them.

    Raises:
        InputError: of the given type, one problem a line, each with file, line, value and remedy.
    """
    data = file.at(place)
    if data is None and not place:
        raise error(f"{file.path}:1: the file is empty")
    allowed = getattr(model, "model_config", {}).get("extra") == "allow"
    try:
        # As JSON: strict, and yet a list may become a tuple and a text an enum, as files have no such types.
        return TypeAdapter(model).validate_json(
            json.dumps(data),
            strict=True,
            extra="allow" if allowed else "forbid",
            context={FOLDER: file.path.parent},
        )
    except ValidationError as failure:
        problems = [_problem(file, place, model, detail) for detail in failure.errors()]
        raise error(list(dict.fromkeys(problems))) from failure


def show_place(place: Place) -> str:
    """`cases[0].expected.pages`, as the place is written in words."""
    shown = ""
    for step in place:
        shown += f"[{step}]" if isinstance(step, int) else f".{step}" if shown else step
    return shown or "the file"


def _problem(file: YamlFile, base: Place, model: type[Any], detail: ErrorDetails) -> str:
    place = (*base, *detail["loc"])
    where, name, found = file.where(place), show_place(place), detail["input"]
    if detail["type"] in UNKNOWN_KEY:
        return (
            f"{where}: unknown key {name!r}{did_you_mean(str(place[-1]), _keys(model, detail['loc'][:-1]))}"
        )
    if detail["type"] == "missing":
        return f"{where}: {name!r} is missing"
    if detail["type"] == "string_type" and type(found) in KINDS:
        return (
            f"{where}: {name}: `{file.written.get(place, found)}` is {KINDS[type(found)]} to YAML; quote it"
        )
    if detail["type"] in ("value_error", "assertion_error"):
        return f"{where}: {name}: {detail['msg'].partition(', ')[2]}"
    message = detail["msg"].replace("an object", "a mapping").replace("a valid array", "a list")
    return (
        f"{where}: {name}: {message[0].lower()}{message[1:]}, found {_show(file.written.get(place), found)}"
    )


def _show(written: str | None, value: Any) -> str:
    """A value as it goes into a message: as written, on one line and cut."""
    if value is None:
        return "nothing"
    if isinstance(value, (dict, list)):
        return f"{'a mapping' if isinstance(value, dict) else 'a list'}" if value else repr(value)
    shown = repr(value) if written is None else f"`{written}`"
    return shown if len(shown) <= 80 else f"{shown[:79]}…"


def _keys(model: Any, loc: Place) -> set[str]:
    """The keys that are known at a place inside a model, as far as its annotations say."""
    current = model
    for step in loc:
        if isinstance(current, type) and issubclass(current, BaseModel) and step in current.model_fields:
            current = current.model_fields[str(step)].annotation
        current = _inner_model(current) or current
    if isinstance(current, type) and issubclass(current, BaseModel):
        return {field.alias or name for name, field in current.model_fields.items()}
    return (
        {field.name for field in dataclasses.fields(current)} if dataclasses.is_dataclass(current) else set()
    )


def _inner_model(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    found = (_inner_model(part) for part in getattr(annotation, "__args__", ()))
    return next((model for model in found if model is not None), None)
