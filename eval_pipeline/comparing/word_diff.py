"""Two texts word by word: what stayed, what is gone, what is new."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

Kind = Literal["same", "gone", "new"]

_TOKENS = re.compile(r"\w+|\s+|[^\w\s]")
_LONGEST = 4000
"""Tokens of a text that is compared word by word; of a longer one, the lines are compared."""
_ALIKE = 0.35
"""Texts that share less than this are shown as one replaced by the other: islands of common words only
confuse."""


@dataclass(frozen=True)
class Segment:
    """A stretch of words that stayed, went or came."""

    kind: Kind
    text: str


def word_diff(before: str, after: str) -> tuple[Segment, ...]:
    """The segments that turn one text into the other.

    Those that are not `new` add up to `before`, those that are not `gone` to `after`.
    """
    a, b = _tokens(before), _tokens(after)
    matcher = SequenceMatcher(None, a, b, autojunk=False)
    if _shared(a, b, matcher) < _ALIKE:
        return tuple(_merged([Segment("gone", before), Segment("new", after)]))
    found: list[Segment] = []
    for tag, a0, a1, b0, b1 in matcher.get_opcodes():
        if tag == "equal":
            found.append(Segment("same", "".join(a[a0:a1])))
        else:
            found += [Segment("gone", "".join(a[a0:a1])), Segment("new", "".join(b[b0:b1]))]
    return tuple(_merged(_without_islands(found)))


def side_of(segments: Sequence[Segment], without: Kind) -> tuple[Segment, ...]:
    """One text with its changes marked: the first `without` `new`, the second without `gone`."""
    return tuple(segment for segment in segments if segment.kind != without)


def changed_lines(segments: Sequence[Segment]) -> list[tuple[Segment, ...]]:
    """The lines that hold a change, each as its segments; an unchanged stretch between them is left out."""
    lines: list[list[Segment]] = [[]]
    for segment in segments:
        first, *rest = segment.text.split("\n")
        lines[-1].append(Segment(segment.kind, first))
        lines += [[Segment(segment.kind, text)] for text in rest]
    shown = (tuple(part for part in line if part.text) for line in lines)
    return [line for line in shown if any(part.kind != "same" for part in line)]


def _shared(a: Sequence[str], b: Sequence[str], matcher: SequenceMatcher[str]) -> float:
    """The share of the words of both texts that stayed."""
    words = [token for token in (*a, *b) if re.search(r"\w", token)]
    stayed = [token for start, _, size in matcher.get_matching_blocks() for token in a[start : start + size]]
    return 2 * sum(re.search(r"\w", token) is not None for token in stayed) / len(words) if words else 1.0


def _tokens(text: str) -> list[str]:
    tokens = _TOKENS.findall(text)
    return tokens if len(tokens) <= _LONGEST else text.splitlines(keepends=True)


def _without_islands(segments: Sequence[Segment]) -> Iterator[Segment]:
    """Spaces and punctuation that stayed between two changes belong to both."""
    for place, segment in enumerate(segments):
        inside = 0 < place < len(segments) - 1
        if segment.kind == "same" and inside and not re.search(r"\w", segment.text):
            yield Segment("gone", segment.text)
            yield Segment("new", segment.text)
        else:
            yield segment


def _merged(segments: Sequence[Segment] | Iterator[Segment]) -> Iterator[Segment]:
    """Each change as at most one `gone` and one `new`, in this order."""
    gone = new = same = ""
    for segment in segments:
        if not segment.text:
            continue
        if segment.kind == "same":
            if gone or new:
                yield from _change(same, gone, new)
                gone = new = same = ""
            same += segment.text
        elif segment.kind == "gone":
            gone += segment.text
        else:
            new += segment.text
    yield from _change(same, gone, new)


def _change(same: str, gone: str, new: str) -> Iterator[Segment]:
    parts: list[tuple[Kind, str]] = [("same", same), ("gone", gone), ("new", new)]
    yield from (Segment(kind, text) for kind, text in parts if text)
