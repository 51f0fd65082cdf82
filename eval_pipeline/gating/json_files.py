"""JSON read strictly: no duplicate keys, and every problem names the file and the place in it."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, TypeVar

from pydantic import BaseModel, TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from eval_pipeline.errors import InputError
from eval_pipeline.suggestions import did_you_mean
from eval_pipeline.validation import show_place

T = TypeVar("T")


def load_json(text: str, place: str, error: type[InputError]) -> Any:
    """The plain data of a file's text. NaN is kept, so that whoever reads the number can say where it stands.

    Args:
        text: what is read.
        place: the file, to begin each problem with.
        error: the type to raise.

    Raises:
        InputError: of the given type, for what is not JSON, and a key that stands twice.
    """
    try:
        return json.loads(text, object_pairs_hook=_refuse_twins(place, error))
    except json.JSONDecodeError as failure:
        raise error(f"{place}:{failure.lineno}:{failure.colno}: not JSON: {failure.msg}") from failure
    except (RecursionError, ValueError) as failure:  # nested too deep; a number of too many digits
        raise error(f"{place}: not usable JSON: {failure}") from failure


def _refuse_twins(place: str, error: type[InputError]) -> Callable[[list[tuple[str, Any]]], dict[str, Any]]:
    def build(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        built = dict(pairs)
        if len(built) < len(pairs):
            names = [name for name, _ in pairs]
            twin = next(name for name in names if names.count(name) > 1)
            raise error(f"{place}: key {twin!r} stands twice in one object; keep one")
        return built

    return build


def parse_json(
    data: Any,
    model: type[T] | TypeAdapter[T],
    place: str,
    error: type[InputError],
    at: tuple[str | int, ...] = (),
) -> T:
    """Validate plain data as a model.

    Args:
        data: what `load_json` gave, or a part of it.
        model: a pydantic model, or an adapter of any type.
        place: the file, to begin each problem with.
        error: the type to raise.
        at: where in the file `data` stands, such as `("rows", 4)`.

    Raises:
        InputError: of the given type, one problem a line.
    """
    adapter = model if isinstance(model, TypeAdapter) else TypeAdapter(model)
    try:
        return adapter.validate_python(data)
    except ValidationError as failure:
        fields = _known_fields(model)
        raise error([_problem(place, at, fields, detail) for detail in failure.errors()]) from failure


def show_value(value: Any, limit: int = 80) -> str:
    """A value as it goes into a message: on one line and cut."""
    shown = repr(value)
    return shown if len(shown) <= limit else f"{shown[: limit - 1]}…"


def _problem(place: str, at: tuple[str | int, ...], fields: list[str], detail: ErrorDetails) -> str:
    loc = (*at, *detail["loc"])
    where = f"{place}: {show_place(loc)}" if loc else place
    if detail["type"] == "extra_forbidden":
        known = fields if len(detail["loc"]) == 1 else []
        return f"{where}: unknown key{did_you_mean(str(loc[-1]), known)}"
    if detail["type"] == "missing":
        return f"{where} is missing"
    if detail["type"] == "value_error":
        return f"{where}: {detail['msg'].removeprefix('Value error, ')}"
    message, value = detail["msg"].lower(), show_value(detail["input"])
    if detail["type"] in ("model_type", "dict_type", "dataclass_type"):
        return f"{where}: {value} is not an object"
    if not message.startswith("input should be "):
        return f"{where}: {message}, found {value}"
    return f"{where}: {value} is not {message.removeprefix('input should be ')}"


def _known_fields(model: Any) -> list[str]:
    if isinstance(model, type) and issubclass(model, BaseModel):
        return sorted(field.alias or name for name, field in model.model_fields.items())
    return []
