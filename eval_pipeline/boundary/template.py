"""The template of a request: plain JSON in whose texts `$input`, `$prompt` and the like are filled in."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from eval_pipeline.errors import CallFailed

KNOWN = ("input", "prompt", "model", "parameters")
_NAME = r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*"
_PLACE = re.compile(rf"\$(?:(?P<dollar>\$)|(?P<name>{_NAME})|\{{(?P<braced>{_NAME})\}})")


def template_names(template: Any) -> Iterator[str]:
    """The names in a template, dotted ones whole, in the order they stand."""
    if isinstance(template, str):
        found = (match["name"] or match["braced"] for match in _PLACE.finditer(template))
        yield from (name for name in found if name)
    elif isinstance(template, Mapping):
        for value in template.values():
            yield from template_names(value)
    elif isinstance(template, list):
        for value in template:
            yield from template_names(value)


def render(template: Any, values: Mapping[str, Any]) -> Any:
    """The template with its names filled in.

    A text that is nothing but one name becomes the value itself, whatever JSON that is; inside a longer text
    a value stands as text, or as JSON where it is none. `$$` is a dollar sign.

    Raises:
        CallFailed: `bad_input`, for a name that has no value.
    """
    if isinstance(template, str):
        whole = _PLACE.fullmatch(template)
        if whole and (name := whole["name"] or whole["braced"]):
            return _value(name, values)
        return _PLACE.sub(lambda match: _text(match, values), template)
    if isinstance(template, Mapping):
        return {key: render(value, values) for key, value in template.items()}
    if isinstance(template, list):
        return [render(value, values) for value in template]
    return template


def _text(match: re.Match[str], values: Mapping[str, Any]) -> str:
    if match["dollar"]:
        return "$"
    value = _value(match["name"] or match["braced"], values)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)


def _value(name: str, values: Mapping[str, Any]) -> Any:
    value: Any = values
    for step in name.split("."):
        if not isinstance(value, Mapping) or step not in value:
            raise CallFailed("bad_input", f"the request's template names ${name}, which this case has not")
        value = value[step]
    return value
