"""Stretches of a comparison's text with what each means, cut to what is worth reading."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from eval_pipeline.comparing.word_diff import Segment

Style = Literal["plain", "heading", "dim", "good", "bad", "gone", "new"]

AROUND = 40
"""Characters of unchanged text that are kept beside a change."""
LONGEST = 200
"""Characters of one change that are shown, and of a text that is shown whole."""


@dataclass(frozen=True)
class Span:
    """Some words and how they are shown."""

    text: str
    style: Style = "plain"
    foreign: bool = False
    """Whether a model, a tool or a user wrote them: in Markdown they are code, whatever they look like."""


def spans_of(segments: Iterable[Segment]) -> tuple[Span, ...]:
    """A text with its changes marked, as it is."""
    return tuple(Span(part.text, _style(part), foreign=True) for part in segments if part.text)


def cut(segments: Sequence[Segment]) -> tuple[Span, ...]:
    """A text with its changes marked, on one line: of a long one, what is far from any change is left out."""
    whole = sum(len(part.text) for part in segments) <= LONGEST
    spans = []
    for place, part in enumerate(segments):
        text = re.sub(r"[ \t]*\n\s*", " ↵ ", part.text)
        if part.kind != "same" or whole:
            spans.append(Span(shortened(text), _style(part), foreign=True))
        else:
            first, last = place == 0, place == len(segments) - 1
            kept = shortened(text) if first and last else _near_changes(text, first, last)
            spans.append(Span(kept, foreign=True))
    return tuple(spans)


def _style(part: Segment) -> Style:
    return "plain" if part.kind == "same" else part.kind


def one_line(value: Any) -> str:
    """A text on one line; anything else as JSON."""
    return " ".join(value.split()) if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def shortened(text: str, longest: int = LONGEST) -> str:
    """The beginning of a text, to the end of a word."""
    return text if len(text) <= longest else _head(text, longest)


def _near_changes(text: str, first: bool, last: bool) -> str:
    """An unchanged stretch without what is far from the change before it and the change after it."""
    if first:
        return text if len(text) <= AROUND else _tail(text, AROUND)
    if last:
        return text if len(text) <= AROUND else _head(text, AROUND)
    return text if len(text) <= 2 * AROUND else f"{_head(text, AROUND)} {_tail(text, AROUND)}"


def _head(text: str, longest: int) -> str:
    kept = text[:longest]
    return f"{kept[: kept.rfind(' ')] if ' ' in kept.strip() else kept}…"


def _tail(text: str, longest: int) -> str:
    kept = text[-longest:]
    return f"…{kept[kept.find(' ') + 1 :] if ' ' in kept.strip() else kept}"
