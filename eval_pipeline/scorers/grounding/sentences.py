"""Sentences of an answer or a page: Markdown taken apart, code and quotations kept whole."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_SIGNS = str.maketrans(
    {
        **dict.fromkeys("‘’‚‛′", "'"),
        **dict.fromkeys("“”„‟″«»", '"'),
        **dict.fromkeys("‐‑−–", "-"),
        **dict.fromkeys("\u00a0\u2007\u2009\u202f", " "),
        **dict.fromkeys("\u2060\u200b\u200c\u200d\ufeff", None),
        "—": " - ",
        "…": "...",
        "\t": " ",
    }
)
_FENCE = re.compile(r"\s*(```|~~~)")
_BLOCK = re.compile(r"\s*(?:[-*+•]\s+|\(?\d{1,2}[.)]\s+|#{1,6}\s+|>\s*|\|\s*|[A-Za-z_*]+:\*?\*?\s)")
_MARKER = re.compile(r"\s*(?:(?P<item>[-*+•]|\(?\d{1,2}[.)])\s+|(?P<head>#{1,6})\s+|>\s*)(?:\[[ xX]\]\s+)?")
_RULE = re.compile(r"\s*(?:[-=*_]{3,}|[|:\- ]{3,})\s*$")
_CITATION = re.compile(r"\s?(?:\[\d+(?:,\s*\d+)*\]|【[^】]*】)(?!\()")
_LINK = re.compile(r"!?\[([^\]\n]*)\]\(\s*<?([^)\s>]*)>?[^)]*\)")
_EMPHASIS = re.compile(r"(?<![\w*`])\*{1,3}(?=[^\s*])([^*\n]+?)(?<=\S)\*{1,3}(?![\w*])")
_UNDERLINED = re.compile(r"(?<![\w`/.])(__?)(?=[^\s_])([^_\n`]+?)(?<=\S)\1(?![\w`])")
_END = re.compile(r"""[.!?]+["')\]]*\s+(?=[^a-z\s])""")
_ABBREVIATION = re.compile(r"(?:\b(?:e\.g|i\.e|etc|vs|cf|approx|ca|incl|Mr|Ms|Dr|St)|\.\.)\.$", re.IGNORECASE)

SPANS = re.compile(
    r"(?P<ticks>``?)(?P<code>[^`]+)(?P=ticks)"
    r'|"(?P<double>[^"\n]+)"'
    r"|(?<!\w)'(?P<single>(?:[^'\n]|(?<=\w)'(?=\w))+?)'(?!\w)"
)
"""Inline code and quotations, whichever opens first."""


@dataclass(frozen=True)
class Sentence:
    """One sentence, heading, list item or line of a code block."""

    text: str
    """Its words, with plain quotes and without Markdown's emphasis and links."""
    code: bool = False
    """Whether it is a line of a code block."""
    item: bool = False
    """Whether it begins a list item."""


def split_sentences(text: str) -> tuple[Sentence, ...]:
    """The sentences of a Markdown text, in order."""
    return tuple(_split(text.translate(_SIGNS)))


def without_citations(text: str) -> str:
    """`text` without marks such as `[1]`, whose numbers claim nothing."""
    return _CITATION.sub(lambda mark: " " if text[mark.end() : mark.end() + 1].isalnum() else "", text)


def plain(text: str) -> str:
    """`text` with one kind of quote, dash and space, without emphasis and link targets on the same site."""
    text = _LINK.sub(_link_text, text.translate(_SIGNS))
    text = _EMPHASIS.sub(r"\1", text)
    return re.sub(r"\s+", " ", _UNDERLINED.sub(r"\2", text)).strip()


def _link_text(link: re.Match[str]) -> str:
    label, target = link.groups()
    return f"{label} {target}" if target.startswith("http") and target != label else label


def _split(text: str) -> Iterator[Sentence]:
    block: list[str] = []
    fenced = item = False
    for line in text.splitlines():
        if _FENCE.match(line):
            yield from _sentences(block, item)
            block, fenced = [], not fenced
            continue
        if fenced:
            if line.strip():
                yield Sentence(line.strip(), code=True)
            continue
        blank = not line.strip() or _RULE.match(line)
        if blank or _BLOCK.match(line):
            yield from _sentences(block, item)
            block, item = [], False
        if blank:
            continue
        marker = _MARKER.match(line)
        block.append(line[marker.end() :] if marker else line)
        item = item or bool(marker and marker["item"])
        if marker and marker["head"]:
            yield from _sentences(block, item=False)
            block = []
    yield from _sentences(block, item)


def _sentences(block: list[str], item: bool) -> Iterator[Sentence]:
    """The sentences of one paragraph, cut at neither a span's full stop nor an abbreviation's."""
    text = plain(" ".join(block))
    masked = SPANS.sub(_mask, text)
    start = 0
    for end in _END.finditer(masked):
        if _ABBREVIATION.search(masked[start : end.start() + 1]):
            continue
        yield Sentence(text[start : end.end()].strip(), item=item and start == 0)
        start = end.end()
    if text[start:].strip():
        yield Sentence(text[start:].strip(), item=item and start == 0)


def _mask(span: re.Match[str]) -> str:
    """A span of the same length without anything to cut at, but for a full stop that ends a quotation."""
    inner = span[0][1:-1]
    last = inner[-1] if inner[-1] in ".!?" and span["code"] is None else "x"
    return span[0][0] + "x" * (len(inner) - 1) + last + span[0][-1]
