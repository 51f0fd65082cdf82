"""A comparison as GitHub Markdown, for pull requests and job summaries."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby

from eval_pipeline.report.comparison_blocks import Block
from eval_pipeline.report.comparison_cases import Answers
from eval_pipeline.report.comparison_numbers import Table
from eval_pipeline.report.comparison_spans import Span
from eval_pipeline.report.inert_text import markdown_code, markdown_text

_MARKS = {"gone": ("<del>", "</del>"), "new": ("<ins>", "</ins>"), "heading": ("**", "**")}
_HEADINGS = ("good", "bad")
"""Styles that a terminal shows in colour: bold where they stand by themselves."""


def blocks_markdown(blocks: Sequence[Block]) -> str:
    """Blocks as Markdown with a line end: the first line is the title, gone and new words are marked."""
    lines = [line for block in blocks for line in _lines(block)]
    return "\n".join(["### " + lines[0].strip().strip("*"), *lines[1:]]) + "\n"


def _lines(block: Block) -> Iterator[str]:
    if isinstance(block, Table):
        yield ""
        yield _row(markdown_text(heading) for heading in block.headings)
        yield _row("---" for _ in block.headings)
        yield from (_row(markdown_text(cell) for cell in row) for row in block.rows)
        yield ""
    elif isinstance(block, Answers):
        bullet = "  " * max(block.indent - 1, 0) + "- "
        yield f"{bullet}before: {_marked(block.before)}"
        yield f"{bullet}after: {_marked(block.after)}"
    elif not block.spans:
        yield ""
    else:
        label = f"{markdown_text(block.label)}: " if block.label else ""
        spans = block.spans
        if not block.indent and len(spans) == 1 and spans[0].style in _HEADINGS:
            spans = (replace(spans[0], style="heading"),)
        text = label + _marked(spans)
        yield f"{'  ' * (block.indent - 1)}- {text}" if block.indent else f"{text}  "


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _marked(spans: Iterable[Span]) -> str:
    return "".join(_span(span) for span in _joined(spans))


def _joined(spans: Iterable[Span]) -> Iterator[Span]:
    """Neighbours of one kind as one: two code spans side by side would read as one with backticks in it."""
    for (style, foreign), alike in groupby(spans, key=lambda span: (span.style, span.foreign)):
        yield Span("".join(span.text for span in alike), style, foreign=foreign)


def _span(span: Span) -> str:
    before, after = _MARKS.get(span.style, ("", ""))
    inner = span.text.strip()
    if not inner:
        return span.text
    lead = span.text[: len(span.text) - len(span.text.lstrip())].replace("\n", " ")
    tail = span.text[len(span.text.rstrip()) :].replace("\n", " ")
    text = markdown_code(inner) if span.foreign else _plain(inner)
    return f"{lead}{before}{text}{after}{tail}"


def _plain(text: str) -> str:
    return " ".join(markdown_text(line) for line in text.split("\n"))
