"""A structured reply read as strictly as it was asked for: JSON alone, and every field as its schema says."""

from __future__ import annotations

import json
from typing import Any, NoReturn, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

Model = TypeVar("Model", bound=BaseModel)


def parse_reply(text: str) -> Any:
    """The plain data of a reply that is JSON without a fence, a duplicate key, NaN or a repair.

    Raises:
        ValueError: when it is something else.
    """
    try:
        return json.loads(text, object_pairs_hook=_without_duplicates, parse_constant=_refuse_constant)
    except RecursionError:
        raise ValueError("nested too deep") from None


def fit_reply(data: Any, model: type[Model]) -> Model:
    """Plain data as its model: nothing converted, and no field too many at any level.

    Raises:
        ValueError: naming each field that does not fit.
    """
    try:
        # As JSON: strict, and yet a list may become a tuple and a text an enum, as JSON has no such types.
        return model.model_validate_json(json.dumps(data), strict=True, extra="forbid")
    except ValidationError as failure:
        raise ValueError("; ".join(_words(detail) for detail in failure.errors())) from None


def _words(detail: ErrorDetails) -> str:
    place = ".".join(map(str, detail["loc"])) or "the reply"
    if detail["type"] == "missing":
        return f"{place} is missing"
    if detail["type"] == "extra_forbidden":
        return f"{place} is no field of it"
    message = detail["msg"].removeprefix("Value error, ")
    return f"{place}: {message[0].lower()}{message[1:]}, found {json.dumps(detail['input'])[:80]}"


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    data = dict(pairs)
    if len(data) < len(pairs):
        raise ValueError(f"duplicate keys among {', '.join(name for name, _ in pairs)}")
    return data


def _refuse_constant(word: str) -> NoReturn:
    raise ValueError(f"{word} is no JSON")
