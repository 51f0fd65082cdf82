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

    def build(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        built = dict(pairs)
        if len(built) < len(pairs):
            names = [name for name, _ in pairs]
            twin = next(name for name in names if names.count(name) > 1)
            raise error(f"{path}: key {twin!r} stands twice in one object; keep one")
        return built

    def number(text: str) -> float:
        if not math.isfinite(float(text)):
            raise error(f"{path}: `{text}` is not a usable number; quote it if text is meant")
        return float(text)

    text = read_text(path, error)
    if not text.strip():
        return None
    try:
        data = json.loads(text, object_pairs_hook=build, parse_float=number, parse_constant=number)
    except json.JSONDecodeError as failure:
        raise error(f"{path}:{failure.lineno}: not JSON: {failure.msg}") from failure
    except ValueError as failure:  # more digits than Python reads
        raise error(f"{path}: not usable JSON: {failure}") from failure
    except RecursionError as failure:
        raise error(_too_deep(path)) from failure
    if _depth(data) > MAX_DEPTH:
        raise error(_too_deep(path))
    return data


def _too_deep(path: Path) -> str:
    return f"{path}: nested more than {MAX_DEPTH} levels deep; make it flatter"


def _depth(data: Any) -> int:
    depth, level = 0, [data]
    while level := [item for item in level if isinstance(item, (dict, list))]:
        depth += 1
        level = [part for item in level for part in (item.values() if isinstance(item, dict) else item)]
    return depth
