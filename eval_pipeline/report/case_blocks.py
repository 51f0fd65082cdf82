"""A stage report case by case: what was asked and answered, and every stage's word on it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from eval_pipeline.failure_text import shortened
from eval_pipeline.report.case_reports import CaseReport
from eval_pipeline.report.inert_text import markdown_code, markdown_text, visible
from eval_pipeline.report.stage_report import SHOWN_ROWS, StageReport
from eval_pipeline.report.table import TableCell, first_failure_text, scaled, summary_lines
from eval_pipeline.report.text import aligned, report_title
from eval_pipeline.scores import CheckResult, Stage


@dataclass(frozen=True)
class CaseBlock:
    """One case and repeat in words."""

    case_id: str
    verdict: str
    """Passed, or where it failed first, and whether a judge had no say in it."""
    lines: tuple[tuple[str, TableCell], ...]
    """Label and text: question, answer, checks in code, scores that gate, scores that advise, reasons."""


def case_blocks(report: StageReport, rows: Iterable[CaseReport] | None = None) -> list[CaseBlock]:
    """A block for each case and repeat, in the report's order; or for some of its rows."""
    stages = {stage.name: stage for stage in report.stages}
    repeats = report.summary.runs > report.summary.cases
    return [
        CaseBlock(
            row.trace.case_id + (f" (repeat {row.trace.repeat})" if repeats else ""),
            _verdict(row, stages),
            tuple(_lines(row, stages)),
        )
        for row in (report.rows if rows is None else rows)
    ]


def blocks_text(report: StageReport) -> str:
    """The blocks and what they add up to, as plain text with a line end."""
    lines = report_title(report)
    for block in case_blocks(report):
        lines += ["", f"{visible(block.case_id)}: {block.verdict}"]
        lines += [f"  {line}" for line in aligned([(label, visible(c.text)) for label, c in block.lines])]
    lines += ["", *aligned(blocks_summary(report))]
    return "\n".join(lines) + "\n"


def blocks_markdown(report: StageReport, most: int | None = None, longest: int | None = None) -> str:
    """As `blocks_text` in GitHub Markdown.

    Args:
        report: what is shown.
        most: cases; of more, some that did not pass.
        longest: characters of one text, such as an answer; of more, the beginning.
    """
    rows: Sequence[CaseReport] = report.rows
    if most is not None and len(rows) > most:
        rows = [row for row in report.first_rows(most) if row.outcome != "passed"]
    blocks, left_out = case_blocks(report, rows), len(report.rows) - len(rows)
    lines: list[str] = []
    for block in blocks:
        lines += [f"#### {markdown_code(block.case_id)}: {markdown_text(block.verdict)}", ""]
        lines += [f"- {label}: {_markdown(cell, longest)}" for label, cell in block.lines]
        lines.append("")
    if left_out:
        lines += [f"{left_out} more cases: `eval-pipeline report {report.cell.suite} --by-case`", ""]
    lines += [f"- {markdown_text(label.strip())}: {markdown_text(t)}" for label, t in blocks_summary(report)]
    return "\n".join(lines) + "\n"


def blocks_summary(report: StageReport) -> list[tuple[str, str]]:
    """What the blocks add up to: cases, passed, the others by outcome with ids, each stage's average."""
    ids: dict[str, list[str]] = {}
    for run in report.summary.not_passed:
        ids.setdefault(run.outcome.replace("_", " "), []).append(run.case_id)
    named = [
        (outcome, f"{len(found)}: {visible(_shortened(list(dict.fromkeys(found))))}")
        for outcome, found in ids.items()
    ]
    cases, passed, *rest = summary_lines(report)
    return [cases, passed, *named, *rest]


def _shortened(ids: Sequence[str]) -> str:
    more = f" and {len(ids) - SHOWN_ROWS:,} more" if len(ids) > SHOWN_ROWS else ""
    return ", ".join(ids[:SHOWN_ROWS]) + more


def _verdict(row: CaseReport, stages: dict[str, Stage]) -> str:
    outcome = row.outcome.replace("_", " ")
    where = f"{outcome} at {first_failure_text(row)}" if row.first_failure else outcome
    advised = any(
        not check.gating and stages[name].scorer.judged and stages[name].gating == "when_calibrated"
        for name, check in row.checks.items()
    )
    return where + (", on the checks alone: the judge only advises" if advised else "")


def _lines(row: CaseReport, stages: dict[str, Stage]) -> Iterator[tuple[str, TableCell]]:
    yield "question", TableCell(row.question, foreign=True)
    yield "answer", TableCell(row.trace.answer or "(none)", foreign=row.trace.answer is not None)
    checks = [check for name, check in row.checks.items() if not stages[name].scorer.judged]
    judged = [check for name, check in row.checks.items() if stages[name].scorer.judged]
    if checks:
        yield "checks", TableCell("; ".join(_check_text(check) for check in checks), foreign=True)
    for label, found in (
        ("scores", [check for check in judged if check.gating]),
        ("advisory", [check for check in judged if not check.gating]),
    ):
        if found:
            yield label, TableCell("; ".join(_score_text(check, stages[check.stage]) for check in found))
    yield from (("reason", TableCell(text, foreign=True)) for text in _reasons(judged))


def _check_text(check: CheckResult) -> str:
    word = {"passed": "pass", "failed": "fail"}.get(check.outcome, check.outcome.replace("_", " "))
    return f"{check.stage} {word}" + ("" if check.outcome == "passed" else f" ({check.reason})")


def _score_text(check: CheckResult, stage: Stage) -> str:
    """A judge's score in its own scale, and what it should have been where it is too low."""
    if check.score is None:
        return f"{check.stage} {check.outcome.replace('_', ' ')}"
    needs = "" if check.outcome == "passed" else f" (needs {scaled(check.threshold, stage)})"
    return f"{check.stage} {scaled(check.score.value, stage)}{needs}"


def _reasons(judged: Sequence[CheckResult]) -> list[str]:
    """What judges said, once where several stages share it, else with the stage's name."""
    texts = list(dict.fromkeys(check.reason for check in judged))
    if len(texts) < 2:
        return texts
    return [f"{', '.join(c.stage for c in judged if c.reason == text)}: {text}" for text in texts]


def _markdown(cell: TableCell, longest: int | None) -> str:
    text = cell.text if longest is None else shortened(cell.text, longest)
    return markdown_code(text) if cell.foreign else markdown_text(text)
