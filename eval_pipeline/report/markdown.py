"""A stage report as GitHub Markdown, for the asset's page, pull requests and job summaries."""

from __future__ import annotations

from eval_pipeline.report.inert_text import markdown_code, markdown_text
from eval_pipeline.report.stage_report import StageReport
from eval_pipeline.report.table import NONE, TableCell, summary_lines, table_headings, table_rows


def report_markdown(report: StageReport, *, most: int | None = None) -> str:
    """The report as Markdown with a line end: title, table, and the numbers as a list.

    Args:
        report: what is shown.
        most: rows of the table; of more, those that did not pass come first.
    """
    rows = table_rows(report, most)
    left_out = len(report.rows) - len(rows)
    cell, asked = report.cell, "model" if report.key["model"] else "system"
    headings = [markdown_text(heading) for heading in table_headings(report)]
    lines = [
        f"### {markdown_text(cell.suite)}: {markdown_code(cell.candidate)} on {markdown_code(cell.dataset)}",
        "",
        f"{asked.capitalize()}: {markdown_code(str(report.key[asked]))}",
        "",
        _line(headings),
        _line(["---"] * len(headings)),
        *(_line([_cell(cell) for cell in row]) for row in rows),
        "",
        *([f"{left_out} more rows are stored.", ""] if left_out else []),
        *(_item(label, text) for label, text in summary_lines(report)),
    ]
    return "\n".join(lines) + "\n"


def _line(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cell(cell: TableCell) -> str:
    return (markdown_code(cell.text) or NONE) if cell.foreign else markdown_text(cell.text)


def _item(label: str, text: str) -> str:
    """A list item; a metric stands indented below its stage."""
    name = label.lstrip()
    return f"{label[: len(label) - len(name)]}- {markdown_text(name)}: {markdown_text(text)}"
