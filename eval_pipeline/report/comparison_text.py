"""A comparison in words: coloured and side by side on a terminal, with marked words in files and pipes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table as RichTable
from rich.text import Text

from eval_pipeline.report.comparison_blocks import Block
from eval_pipeline.report.comparison_cases import Answers, Line
from eval_pipeline.report.comparison_numbers import Table
from eval_pipeline.report.comparison_spans import Span, Style
from eval_pipeline.report.inert_text import visible
from eval_pipeline.report.text import aligned

INDENT = 2
SIDE_BY_SIDE = 100
"""Columns of a terminal from which two answers stand beside each other."""
_LABELS = range(10, 41)
"""Least and most columns that labels take."""
_STYLES: dict[Style, str] = {
    "plain": "",
    "heading": "bold",
    "dim": "dim",
    "good": "green",
    "bad": "red",
    "gone": "red strike",
    "new": "green",
}
_MARKS: dict[Style, tuple[str, str]] = {"gone": ("[-", "-]"), "new": ("{+", "+}")}


def print_blocks(blocks: Sequence[Block], console: Console) -> None:
    """Print blocks: for the terminal's width, or as plain text where there is none."""
    if console.is_terminal:
        console.print(blocks_renderable(blocks, console.width))
    else:
        console.print(Text(blocks_text(blocks)), soft_wrap=True, end="")


def blocks_text(blocks: Iterable[Block]) -> str:
    """Blocks as plain text with a line end: `[-gone-]` and `{+new+}` words, nothing wrapped."""
    blocks = list(blocks)
    labels = _label_widths(blocks)
    return "\n".join(line.rstrip() for block in blocks for line in _plain(block, labels)) + "\n"


def blocks_renderable(blocks: Iterable[Block], width: int) -> RenderableType:
    """Blocks for a terminal; nothing in them is markup."""
    blocks = list(blocks)
    labels = _label_widths(blocks)
    return Group(*(_rich(block, width, labels) for block in blocks))


def _label_widths(blocks: Iterable[Block]) -> dict[int, int]:
    """The columns that labels take, by indent: as many as the longest needs."""
    widths: dict[int, int] = {}
    for block in blocks:
        if isinstance(block, Line):
            needed = min(max(len(block.label), _LABELS[0]), _LABELS[-1])
            widths[block.indent] = max(widths.get(block.indent, 0), needed)
        elif isinstance(block, Answers):
            widths.setdefault(block.indent, _LABELS[0])
    return widths


def _plain(block: Block, labels: Mapping[int, int]) -> Iterator[str]:
    if isinstance(block, Table):
        yield from (" " * INDENT + line for line in aligned([block.headings, *block.rows]))
    elif isinstance(block, Answers):
        for label, spans in (("before", block.before), ("after", block.after)):
            yield from _labelled(block.indent, label, "".join(map(_marked, spans)), labels)
    else:
        yield from _labelled(block.indent, block.label, "".join(map(_marked, block.spans)), labels)


def _labelled(indent: int, label: str, text: str, labels: Mapping[int, int]) -> Iterator[str]:
    """A text behind its label, its further lines below its first."""
    start = " " * (INDENT * indent) + (f"{visible(label):<{labels[indent]}} " if label else "")
    for place, line in enumerate(text.split("\n")):
        yield (start if place == 0 else " " * len(start)) + visible(line)


def _marked(span: Span) -> str:
    before, after = _MARKS.get(span.style, ("", ""))
    return f"{before}{span.text}{after}"


def _rich(block: Block, width: int, labels: Mapping[int, int]) -> RenderableType:
    if isinstance(block, Table):
        return Padding(_rich_table(block), (0, 0, 0, INDENT))
    if isinstance(block, Answers):
        left = INDENT * block.indent
        if width >= SIDE_BY_SIDE:
            return Padding(_beside(block), (0, 0, 0, left))
        rows = [Line(block.before, block.indent, "before"), Line(block.after, block.indent, "after")]
        return Group(*(_rich_line(row, labels) for row in rows))
    return _rich_line(block, labels)


def _rich_line(line: Line, labels: Mapping[int, int]) -> RenderableType:
    text = _styled(line.spans)
    if line.label:
        grid = RichTable.grid(padding=(0, 1, 0, 0))
        grid.add_column(min_width=labels[line.indent])
        grid.add_column(overflow="fold")
        grid.add_row(Text(visible(line.label), style="dim"), text)
        return Padding(grid, (0, 0, 0, INDENT * line.indent))
    return Padding(text, (0, 0, 0, INDENT * line.indent))


def _beside(answers: Answers) -> RenderableType:
    grid = RichTable.grid(padding=(0, 3, 0, 0), expand=True)
    for _ in range(2):
        grid.add_column(ratio=1, overflow="fold")
    grid.add_row(Text("before", style="dim"), Text("after", style="dim"))
    grid.add_row(_styled(answers.before), _styled(answers.after))
    return grid


def _rich_table(table: Table) -> RichTable:
    grid = RichTable(box=None, padding=(0, 2, 0, 0), show_edge=False)
    for heading in table.headings:
        grid.add_column(Text(heading, style="dim"), overflow="fold")
    for row in table.rows:
        grid.add_row(*(Text(visible(cell)) for cell in row))
    return grid


def _styled(spans: Iterable[Span]) -> Text:
    text = Text()
    for span in spans:
        shown = "\n".join(visible(line) for line in span.text.split("\n"))
        text.append(shown, style=_STYLES[span.style])
    return text
