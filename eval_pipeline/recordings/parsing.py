"""Reads one stored line strictly: whatever isn't exactly an entry is told, never guessed at."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from datetime import datetime
from operator import itemgetter
from typing import Any, NoReturn

from eval_pipeline.recordings.entry import FORMAT_VERSION, Entry, Pairs

_RESTORE = "restore the file with git, or delete the line and record again"
_CONFLICT_MARKERS = (b"<<<<<<<", b"|||||||", b"=======", b">>>>>>>")
_TYPES: dict[str, type] = {
    "id": str,
    "kind": str,
    "role": str,
    "model": str,
    "label": str,
    "cases": list,
    "parts": list,
    "words": str,
    "response": dict,
    "latency_ms": int,
    "at": str,
    "versions": dict,
}
_REQUIRED = frozenset(_TYPES) | {"v", "usage"}
_ALLOWED = _REQUIRED | {"explain"}
_typed_values = itemgetter(*_TYPES)
_TYPES_IN_ORDER = tuple(_TYPES.values())
_JSON_NAMES = {str: "text", list: "a list", dict: "an object", int: "a whole number"}
_ID = re.compile(r"[0-9a-f]{64}:\d+\.\d+:\d+")
_AT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
_HEX = re.compile(r"[0-9a-f]+")
_USAGE = {"input_tokens", "output_tokens"}


class BrokenLine(ValueError):
    """A stored line that is no entry: what is wrong with it, and the remedy."""

    def __init__(self, what: str, remedy: str = _RESTORE) -> None:
        super().__init__(f"{what}; {remedy}")


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON number")


_DECODER = json.JSONDecoder(parse_constant=_refuse_constant)


def parse_line(line: bytes) -> Entry:
    """The entry that `line`, without its newline, holds.

    Raises:
        BrokenLine: when it is anything but one whole entry of this format version.
    """
    raw = _decode(line)
    if raw.get("v") != FORMAT_VERSION or type(raw["v"]) is not int:
        _refuse_version(raw)
    if raw.keys() != _REQUIRED and raw.keys() != _ALLOWED:
        _refuse_fields(raw)
    # Exact types, as `isinstance` would let a boolean pass as a number.
    if tuple(map(type, _typed_values(raw))) != _TYPES_IN_ORDER:
        _refuse_types(raw)
    _check_values(raw)
    raw["explain"] = _pairs("explain", raw["explain"]) if "explain" in raw else ()
    raw["parts"] = _pairs("parts", raw["parts"])
    raw["cases"] = tuple(raw["cases"])
    del raw["v"]
    return Entry.trusted(raw)


def _decode(line: bytes) -> dict[str, Any]:
    if line.startswith(_CONFLICT_MARKERS):
        raise BrokenLine(
            f"git conflict marker {line[:7].decode()!r}",
            "finish the merge: keep one line for each id and delete the markers",
        )
    if not line.strip():
        raise BrokenLine("blank line")
    try:
        raw = _DECODER.decode(line.decode("utf-8"))
    except UnicodeDecodeError as error:
        raise BrokenLine(f"not UTF-8 text (byte {error.start}: {error.reason})") from None
    except (ValueError, RecursionError) as error:
        raise BrokenLine(f"not JSON ({error})") from None
    if type(raw) is not dict:
        raise BrokenLine(f"not an entry but {_shown(raw)}")
    return raw


def _refuse_version(raw: dict[str, Any]) -> NoReturn:
    if "v" not in raw:
        raise BrokenLine("field 'v' is missing")
    raise BrokenLine(
        f"format version {_shown(raw['v'])}, but this eval_pipeline reads version {FORMAT_VERSION}",
        "use the eval_pipeline that wrote it, or delete the line and record again with this one",
    )


def _refuse_fields(raw: dict[str, Any]) -> NoReturn:
    if missing := _REQUIRED - raw.keys():
        raise BrokenLine(f"field {min(missing)!r} is missing")
    raise BrokenLine(f"unknown field {min(raw.keys() - _ALLOWED)!r}")


def _refuse_types(raw: dict[str, Any]) -> NoReturn:
    name, wanted = next((name, wanted) for name, wanted in _TYPES.items() if type(raw[name]) is not wanted)
    raise BrokenLine(f"field {name!r} must be {_JSON_NAMES[wanted]}, not {_shown(raw[name])}")


def _is_time(text: str) -> bool:
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return _AT.fullmatch(text) is not None


def _check_values(raw: dict[str, Any]) -> None:
    if not _ID.fullmatch(raw["id"]):
        raise BrokenLine(
            f"field 'id' must be <key>:<repeat>.<judge_repeat>:<ordinal>, not {_shown(raw['id'])}"
        )
    if raw["kind"] not in ("chat", "embed"):
        raise BrokenLine(f"field 'kind' must be 'chat' or 'embed', not {_shown(raw['kind'])}")
    if raw["role"] not in ("agent", "judge"):
        raise BrokenLine(f"field 'role' must be 'agent' or 'judge', not {_shown(raw['role'])}")
    if not _is_time(raw["at"]):
        raise BrokenLine(
            f"field 'at' must be a UTC time such as 2026-01-31T12:00:00Z, not {_shown(raw['at'])}"
        )
    if not raw["cases"] or not _all_text(raw["cases"]):
        raise BrokenLine(f"field 'cases' must list at least one case id, not {_shown(raw['cases'])}")
    if not _all_text(raw["versions"].values()):
        raise BrokenLine(f"field 'versions' must map names to text, not {_shown(raw['versions'])}")
    usage = raw["usage"]
    if usage is not None and (
        type(usage) is not dict or usage.keys() != _USAGE or any(type(n) is not int for n in usage.values())
    ):
        raise BrokenLine(f"field 'usage' must be null or hold {sorted(_USAGE)}, not {_shown(usage)}")


def _pairs(name: str, value: Any) -> Pairs:
    if value == []:
        return ()
    # Thousands of lines have several pairs each: what runs for every pair here runs in C.
    try:
        labels, digits = zip(*value, strict=True)
        shaped = _all_text(labels) and set(map(len, digits)) == {12} and _HEX.fullmatch("".join(digits))
    except (TypeError, ValueError):
        shaped = None
    if not shaped or set(map(type, value)) != {list}:
        raise BrokenLine(f"field {name!r} must list pairs of a label and 12 hash digits, not {_shown(value)}")
    return tuple(zip(labels, digits, strict=True))


def _all_text(values: Iterable[Any]) -> bool:
    try:
        "".join(values)
    except TypeError:
        return False
    return True


def _shown(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
