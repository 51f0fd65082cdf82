"""Text and JSON as files can hold them: what no UTF-8 or JSON file may contain is written out in ASCII."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Set
from typing import Any

from eval_pipeline.errors import EvalError


def stored_text(text: str) -> str:
    r"""`text` with lone surrogates written as `\udXXX`; everything else, NUL included, as it is."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def optional_text(text: str | None) -> str | None:
    """As `stored_text`, and None stays None."""
    return None if text is None else stored_text(text)


def plain(value: Any, place: str = "value") -> Any:
    """`value` as JSON that every reader accepts; NaN and infinities become their names.

    Sets become sorted lists, tuples lists. `place` says in an error what is being stored.

    Raises:
        EvalError: for anything JSON does not have.
    """
    if value is None or isinstance(value, (bool, int)):
        return value
    if isinstance(value, str):
        return stored_text(value)
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else str(float(value))
    if isinstance(value, Mapping):
        return {_key(key, place): plain(item, f"{place}.{key}") for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item, f"{place}[{i}]") for i, item in enumerate(value)]
    if isinstance(value, Set):
        return [plain(item, place) for item in sorted(value)]
    raise EvalError(
        f"{stored_text(place)}: {type(value).__name__} {value!r} is not plain JSON; "
        "give text, numbers, booleans, lists or mappings"
    )


def _key(key: Any, place: str) -> str:
    if not isinstance(key, str):
        raise EvalError(f"{stored_text(place)}: key {key!r} is not text; JSON has text keys only")
    return stored_text(key)


def json_text(value: Any, place: str = "value") -> str:
    """`plain(value)` as one line of JSON text."""
    return json.dumps(plain(value, place), ensure_ascii=False, allow_nan=False)
