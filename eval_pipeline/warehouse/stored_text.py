"""Text and JSON as files can hold them: what no UTF-8 or JSON file may contain is written out in ASCII."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence, Set
from json.encoder import encode_basestring
from typing import Any

from eval_pipeline.errors import EvalError


def stored_text(text: str) -> str:
    r"""`text` with lone surrogates written as `\udXXX`; everything else, NUL included, as it is."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def optional_text(text: str | None) -> str | None:
    """As `stored_text`, and None stays None."""
    return None if text is None else stored_text(text)


class _NotPlain(Exception):
    """A value JSON does not have; `path` grows on the way up."""

    def __init__(self, problem: str) -> None:
        self.problem = problem
        self.path = ""


def plain(value: Any, place: str = "value") -> Any:
    """`value` as JSON that every reader accepts; NaN and infinities become their names.

    Sets become sorted lists, tuples lists. `place` says in an error what is being stored.

    Raises:
        EvalError: for anything JSON does not have.
    """
    try:
        return _plain(value)
    except _NotPlain as found:
        raise EvalError(f"{stored_text(place + found.path)}: {found.problem}") from None


def _plain(value: Any) -> Any:
    # Reports have a million such values: the exact types come first.
    kind = type(value)
    if kind is str:
        return value if value.isascii() else stored_text(value)
    if value is None or kind is bool or kind is int:
        return value
    if kind is dict:
        return _plain_items(value)
    if kind is list or kind is tuple:
        return _plain_list(value)
    return _plain_other(value)


def _plain_items(value: Mapping[Any, Any]) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for key, item in value.items():
        if not isinstance(key, str):
            raise _NotPlain(f"key {key!r} is not text; JSON has text keys only")
        try:
            made[key if key.isascii() else stored_text(key)] = _plain(item)
        except _NotPlain as found:
            found.path = f".{key}{found.path}"
            raise
    return made


def _plain_list(value: Sequence[Any]) -> list[Any]:
    made: list[Any] = []
    for item in value:
        try:
            made.append(_plain(item))
        except _NotPlain as found:
            found.path = f"[{len(made)}]{found.path}"
            raise
    return made


def _plain_other(value: Any) -> Any:
    if isinstance(value, (bool, int)):
        return value
    if isinstance(value, str):
        return stored_text(value)
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else str(float(value))
    if isinstance(value, Mapping):
        return _plain_items(value)
    if isinstance(value, (list, tuple)):
        return _plain_list(value)
    if isinstance(value, Set):
        return [_plain(item) for item in sorted(value)]
    raise _NotPlain(
        f"{type(value).__name__} {value!r} is not plain JSON; give text, numbers, booleans, lists or mappings"
    )


def json_text(value: Any, place: str = "value") -> str:
    """`plain(value)` as one line of JSON text."""
    return json.dumps(plain(value, place), ensure_ascii=False, allow_nan=False)


def indented_json(value: Any, indent: int = 0) -> str:
    """Plain data as `json.dumps` indents it by two, in a fraction of its time; what is not ASCII stays.

    Args:
        value: plain data.
        indent: spaces that the lines after the first stand in by.
    """
    return _indented(value, "\n" + " " * indent)


_ATOMS = {None: "null", True: "true", False: "false"}


def _indented(value: Any, line_end: str) -> str:
    if isinstance(value, str):
        return encode_basestring(value)
    if value is None or isinstance(value, (bool, int, float)) or not value:
        return _ATOMS[value] if value is None or value is True or value is False else json.dumps(value)
    inner = f"{line_end}  "
    if isinstance(value, dict):
        items = [f"{encode_basestring(key)}: {_indented(item, inner)}" for key, item in value.items()]
        return f"{{{inner}{f',{inner}'.join(items)}{line_end}}}"
    return f"[{inner}{f',{inner}'.join(_indented(item, inner) for item in value)}{line_end}]"
