"""JSON paths (RFC 9535) into an endpoint's reply."""

from __future__ import annotations

from typing import Any


def path_fault(path: str) -> str | None:
    """What is wrong with a path, or None."""
    import jsonpath

    try:
        jsonpath.compile(path, strict=True)
    except jsonpath.JSONPathError as failure:
        return " ".join(str(failure).split())
    return None


def find_all(path: str | None, data: Any) -> list[Any]:
    """Everything the path finds; where that is one list, its items."""
    if path is None:
        return []
    import jsonpath

    found = jsonpath.findall(path, data)
    return found[0] if len(found) == 1 and isinstance(found[0], list) else found


def find_one(path: str | None, data: Any) -> Any:
    """The first thing the path finds, or None."""
    if path is None:
        return None
    import jsonpath

    return next(iter(jsonpath.findall(path, data)), None)
