"""One scalar of a YAML file: its value, unless YAML 1.1 reads it as something that surprises its writer."""

from __future__ import annotations

import math
import re
from typing import Any

import yaml

TAG = "tag:yaml.org,2002:"
TEXT = TAG + "str"

_PATTERNS = yaml.SafeLoader.yaml_implicit_resolvers
"""Tags with the pattern of their scalars, by first sign."""
_CONSTRUCTOR = yaml.constructor.SafeConstructor()
_PLAIN_INT = re.compile(r"[-+]?(0|[1-9][0-9]*)")
_PLAIN_FLOAT = re.compile(r"[-+]?((0|[1-9][0-9]*)\.[0-9]*|\.[0-9]+)([eE][-+][0-9]+)?")
_LIKE_NUMBER = re.compile(r"[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?")
"""Numbers to people, some of which are text to YAML 1.1: `1e5`, `-.5`, `08`."""


def read_scalar(node: yaml.ScalarNode, *, exact: bool) -> tuple[Any, str | None]:
    """The value of a scalar, and what is wrong with how it is written.

    Args:
        node: as composed, not yet constructed.
        exact: refuse decimals that lose a digit, such as 2.10, which is 2.1.
    """
    text, plain = node.value, not node.style  # neither quoted nor a block
    if node.tag == TEXT:
        if plain and _LIKE_NUMBER.fullmatch(text) and _implied_tag(text) == TEXT:
            return (
                text,
                f"`{_cut(text)}` is text to YAML; write it like 8, -0.5 or 1.0e+5, or put it in quotes",
            )
        return text, None
    if not plain or _implied_tag(text) != node.tag:
        return None, tag_problem(node.tag)
    value, problem = _plain_value(text, node.tag.removeprefix(TAG), exact)
    return value, None if problem is None else f"`{_cut(text)}` {problem}"


def _implied_tag(text: str) -> str:
    return next((tag for tag, pattern in _PATTERNS.get(text[:1], ()) if pattern.match(text)), TEXT)


def tag_problem(tag: str) -> str:
    """What is wrong with a written tag."""
    shown = f"!!{tag.removeprefix(TAG)}" if tag.startswith(TAG) else tag
    return f"the tag `{shown}` is not used here; leave it out"


def _plain_value(text: str, kind: str, exact: bool) -> tuple[Any, str | None]:
    """The value of a plain scalar that is not text, or why it has none that everyone would expect."""
    if kind == "null":
        return None, None
    if kind == "bool":
        value = _CONSTRUCTOR.bool_values[text.lower()]
        word = "true" if value else "false"
        return value, None if text.lower() == word else _surprise(word)
    if kind == "timestamp":
        return None, "is a date to YAML; put it in quotes"
    if kind not in ("int", "float"):
        return None, f"is no plain value to YAML ({kind}); put it in quotes"
    node = yaml.ScalarNode(TAG + kind, text)
    try:
        number = (
            _CONSTRUCTOR.construct_yaml_int(node)
            if kind == "int"
            else _CONSTRUCTOR.construct_yaml_float(node)
        )
    except ValueError:  # more digits than Python reads
        number = math.nan
    if isinstance(number, float) and not math.isfinite(number):
        return None, "is not a usable number; put it in quotes if text is meant"
    expected = (_PLAIN_INT if kind == "int" else _PLAIN_FLOAT).fullmatch(text)
    lossless = kind == "int" or not exact or "e" in text.lower() or text.lstrip("+") == repr(number)
    return number, None if expected and lossless else _surprise(repr(number))


def _surprise(value: str) -> str:
    return f"is {value} to YAML; write {value}, or put it in quotes if text is meant"


def _cut(text: str) -> str:
    return text if len(text) <= 60 else f"{text[:60]}…"
