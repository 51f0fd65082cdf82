"""A stage report in words: a table for terminals, and aligned plain text for files and pipes."""

from __future__ import annotations

from collections.abc import Sequence

from rich.box import SIMPLE_HEAD
from rich.cells import cell_len
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from eval_pipeline.report.inert_text import visible
from eval_pipeline.report.stage_report import SHOWN_ROWS, StageReport
from eval_pipeline.report.table import TableCell, summary_lines, table_headings, table_rows

_STYLES = {"fail": "red", "error": "magenta", "not measured": "yellow", "pass": "green"}


def print_report(report: StageReport, console: Console) -> None:
    """Print a report: as a table that fits the terminal, or as plain text where there is none.

    Of a long one, `SHOWN_ROWS` rows: those that did not pass, then others.
    """
    if console.is_terminal:
        console.print(report_renderable(report, SHOWN_ROWS))
    else:
        console.print(Text(report_text(report, SHOWN_ROWS)), soft_wrap=True, end="")


def report_text(report: StageReport, most: int | None = None) -> str:
    """The report as aligned plain text with a line end; no line is cut or wrapped.

    Args:
        report: what is shown.
        most: rows of the table; of more, those that did not pass come first.
    """
    rows = [[visible(cell.text) for cell in row] for row in table_rows(report, most)]
    table = aligned([table_headings(report), *rows])
    rule = "-" * max(cell_len(line) for line in table)
    more = [_more(report, len(rows))] if len(rows) < len(report.rows) else []
    lines = [*report_title(report), "", table[0], rule, *table[1:], *more, ""]
    lines += aligned(summary_lines(report))
    return "\n".join(lines) + "\n"


def _more(report: StageReport, shown: int) -> str:
    """What is said where rows are left out."""
    return f"… {len(report.rows) - shown:,} more rows: eval-pipeline report {report.cell.suite}"


def report_renderable(report: StageReport, most: int | None = None) -> RenderableType:
    """The report for a terminal of any width: cells fold, and nothing in them is markup."""
    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0), show_edge=False)
    for heading in table_headings(report):
        table.add_column(Text(heading), overflow="fold")
    rows = table_rows(report, most)
    for row in rows:
        table.add_row(*(_styled(cell) for cell in row))
    return Group(
        *(Text(line) for line in report_title(report)),
        table,
        *([Text(_more(report, len(rows)))] if len(rows) < len(report.rows) else []),
        Text(),
        *(Text(line) for line in aligned(summary_lines(report))),
    )


def report_title(report: StageReport) -> list[str]:
    """Which cell a report is of, and which model or system answered."""
    cell, asked = report.cell, "model" if report.key["model"] else "system"
    name = visible(str(report.key[asked]))
    return [f"{cell.suite}: {cell.candidate} on {cell.dataset}", f"{asked}: {name}"]


def _styled(cell: TableCell) -> Text:
    styles = (style for word, style in _STYLES.items() if cell.text.startswith(word) and not cell.foreign)
    return Text(visible(cell.text), style=next(styles, ""))


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """One line a row, columns two spaces apart, by the width that a terminal gives each sign."""
    widths = [max(map(cell_len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        padded = [text + " " * (width - cell_len(text)) for text, width in zip(row, widths, strict=True)]
        lines.append("  ".join(padded).rstrip())
    return lines
