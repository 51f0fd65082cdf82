"""JSON files read as strictly as YAML (which JSON is not quite: tabs, `1e5`, escaped emoji)."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

from eval_pipeline.errors import InputError
from eval_pipeline.yaml_data import MAX_DEPTH
from eval_pipeline.yaml_files import read_text


def read_json(path: Path, error: type[InputError]) -> Any:
    """One JSON file's plain data, None when there is nothing in it.

    Raises:
        InputError: of the given type: unreadable text, what is not JSON, duplicate keys, NaN, deep nesting.
    """
    text = read_text(path, error)
    return parse_json(text, str(path), error) if text.strip() else None


def parse_json(text: str, place: str, error: type[InputError], *, line: int | None = None) -> Any:
    """The plain data of JSON text.

    Args:
        text: what is read.
        place: names the file.
        error: the type to raise.
        line: the line of the file that `text` is, where it is one.

    Raises:
        InputError: of the given type: what is not JSON, duplicate keys, NaN, deep nesting.
    """
    where = place if line is None else f"{place}:{line}"

    def build(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        built = dict(pairs)
        if len(built) < len(pairs):
            names = [name for name, _ in pairs]
            twin = next(name for name in names if names.count(name) > 1)
            raise error(f"{where}: key {twin!r} stands twice in one object; keep one")
        return built

    def number(text: str) -> float:
        if not math.isfinite(float(text)):
            raise error(f"{where}: `{text}` is not a usable number; quote it if text is meant")
        return float(text)

    try:
        data = json.loads(text, object_pairs_hook=build, parse_float=number, parse_constant=number)
    except json.JSONDecodeError as failure:
        raise error(
            f"{place}:{failure.lineno if line is None else line}: not JSON: {failure.msg}"
        ) from failure
    except ValueError as failure:  # more digits than Python reads
        raise error(f"{where}: not usable JSON: {failure}") from failure
    except RecursionError as failure:
        raise error(_too_deep(where)) from failure
    if _depth(data) > MAX_DEPTH:
        raise error(_too_deep(where))
    return data


def unusable_in(data: Any) -> str | None:
    """What of plain data no file of ours can hold: a number that JSON has not, or too deep a nesting."""
    if _depth(data) > MAX_DEPTH:
        return f"nested more than {MAX_DEPTH} levels deep"
    level = [data]
    while level:
        for item in level:
            if isinstance(item, float) and not math.isfinite(item):
                return f"{item} is no JSON number"
        level = [
            part
            for item in level
            if isinstance(item, (dict, list))
            for part in (item.values() if isinstance(item, dict) else item)
        ]
    return None


def _too_deep(where: str) -> str:
    return f"{where}: nested more than {MAX_DEPTH} levels deep; make it flatter"


def _depth(data: Any) -> int:
    depth, level = 0, [data]
    while level := [item for item in level if isinstance(item, (dict, list))]:
        depth += 1
        level = [part for item in level for part in (item.values() if isinstance(item, dict) else item)]
    return depth
