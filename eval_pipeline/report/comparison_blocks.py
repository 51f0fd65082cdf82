"""A comparison as blocks to print: the same lines and tables for terminals, files and Markdown.

What is read first comes first: the verdict, the cases that got worse, those that got better, then what
changed without changing an outcome, and at the end the numbers and the configuration.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from eval_pipeline.comparing.case_changes import CaseChange
from eval_pipeline.comparing.comparison import Comparison
from eval_pipeline.comparing.configuration import PromptChange
from eval_pipeline.comparing.verdict import Verdict
from eval_pipeline.report.comparison_cases import Answers, Line, case_blocks, full_case_blocks
from eval_pipeline.report.comparison_numbers import (
    Table,
    judge_blocks,
    listed,
    number_blocks,
    prompt_blocks,
    shift_blocks,
)
from eval_pipeline.report.comparison_spans import Span, Style, one_line, shortened
from eval_pipeline.report.table import NONE, shown

MOST_MOVED = 20
"""Cases that got worse, or better, that are shown; the others are counted."""
MOST_CHANGED = 5
"""Likewise of cases whose outcome is the same."""
MOST_IN_SHORT = 3
"""Likewise of all of them, where many comparisons follow each other."""

Block = Line | Answers | Table


def comparison_blocks(comparison: Comparison) -> list[Block]:
    """The whole comparison."""
    found: list[Block] = [Line((Span(title(comparison), "heading"),)), *_top(comparison)]
    if comparison.judges:
        found += judge_blocks(comparison)
    found += _case_sections(comparison, MOST_MOVED, MOST_CHANGED)
    found += number_blocks(comparison)
    found += shift_blocks(comparison)
    found += prompt_blocks(comparison)
    return found


def short_blocks(comparison: Comparison) -> list[Block]:
    """The verdict and the first cases that changed, without a title."""
    return [*_top(comparison), *_case_sections(comparison, MOST_IN_SHORT, MOST_IN_SHORT)]


def _case_sections(comparison: Comparison, most_moved: int, most_changed: int) -> Iterator[Block]:
    counted = comparison.counted
    worse = [case for case in counted if case.direction == "worse"]
    better = [case for case in counted if case.direction == "better"]
    unmeasured = [case for case in counted if case.direction == "unmeasured"]
    same = [case for case in counted if case.direction == "same"]
    moved = [case for case in same if any(run.moved or run.first_failure_shifted for run in case.runs)]
    still = [case for case in same if not any(run.moved or run.first_failure_shifted for run in case.runs)]
    changed = [case for case in still if any(run.answer_changed for run in case.runs)]
    fetched = [
        case
        for case in still
        if any(run.says_anything for run in case.runs) and not any(run.answer_changed for run in case.runs)
    ]
    yield from _section("worse", worse, most_moved, "bad")
    yield from _section("better", better, most_moved, "good")
    yield from _section("not measured on both sides", unmeasured, most_moved)
    yield from _section("same outcome, another stage moved", moved, most_changed)
    yield from _section("same outcomes, another answer", changed, most_changed)
    yield from _section("same outcomes and answers, other pages or tools", fetched, most_changed)
    yield from _section("edited cases, not counted", comparison.edited, most_changed)
    yield from _rest("only before", comparison.only_before)
    yield from _rest("only after", comparison.only_after)


def case_comparison_blocks(comparison: Comparison, case_id: str) -> list[Block]:
    """One case of it in full."""
    (case,) = [case for case in comparison.cases if case.case_id == case_id]
    heading = Line((Span(title(comparison), "heading"),))
    return [heading, Line((Span(case_id, foreign=True),), label="case"), *full_case_blocks(case)]


def title(comparison: Comparison) -> str:
    """Which two cells are compared."""
    before, after = comparison.before, comparison.after
    if before.dataset == after.dataset:
        return f"{after.suite}: {before.candidate} → {after.candidate} on {after.dataset}"
    return f"{after.suite}: {before.candidate} on {before.dataset} → {after.candidate} on {after.dataset}"


def _top(comparison: Comparison) -> Iterator[Block]:
    verdict = comparison.verdict
    yield Line((Span(verdict.words, _style(verdict)),))
    answers = [run.answer_changed for case in comparison.counted for run in case.runs]
    noun = "runs" if len(answers) > len(comparison.counted) else "cases"
    if answers and not any(answers):
        yield Line((Span(f"no answer changed in {len(answers)} {noun}"),))
    elif answers:
        yield Line((Span(f"answer changed in {sum(answers)} of {len(answers)} {noun}"),))
    if changed := _changed_in_short(comparison):
        yield Line((Span(f"changed: {changed}"),))
    for note in notes(comparison):
        yield Line((Span(f"note: {note}"),))


def notes(comparison: Comparison) -> list[str]:
    """What keeps the outcomes from being like for like."""
    found = []
    if comparison.judges_differ and not comparison.same_traces:
        found.append(
            "the judge differs, and so may what judged stages say of the same answer; run both sides with "
            "one judge"
        )
    if stages := [change.name for change in comparison.changes if change.name.startswith("stages.")]:
        found.append(
            f"the stages are declared differently ({', '.join(stages)}): their outcomes are not like for like"
        )
    if not comparison.changes and comparison.prompt is None:
        found.append("the configuration is the same; only names or what it ran on differ")
    return found


def _changed_in_short(comparison: Comparison) -> str:
    parts = [
        f"{change.name} {_value(change.before)} → {_value(change.after)}" for change in comparison.changes
    ]
    if comparison.prompt is not None:
        parts.append(_prompt_in_short(comparison.prompt))
    return "; ".join(parts)


def _prompt_in_short(prompt: PromptChange) -> str:
    if prompt.diff is None:
        return f"prompt text {prompt.before_sha} → {prompt.after_sha}"
    gone, new = (
        sum(len(part.text.split()) for part in prompt.diff if part.kind == kind) for kind in ("gone", "new")
    )
    return f"prompt text ({gone} words gone, {new} new)"


def _section(name: str, cases: Sequence[CaseChange], most: int, style: Style = "plain") -> Iterator[Block]:
    if not cases:
        return
    yield Line(())
    yield Line((Span(f"{name} ({len(cases)})", "heading" if style == "plain" else style),))
    for case in cases[:most]:
        yield from case_blocks(case)
    if more := [case.case_id for case in cases[most:]]:
        yield Line((Span(f"and {len(more)} more: ", "dim"), Span(listed(more), foreign=True)), indent=1)


def _rest(name: str, case_ids: Sequence[str]) -> Iterator[Block]:
    if case_ids:
        yield Line(())
        yield Line((Span(f"{name} ({len(case_ids)}): "), Span(listed(case_ids), foreign=True)))


def _style(verdict: Verdict) -> Style:
    if verdict.worse == verdict.better:
        return "plain"
    return "bad" if verdict.worse > verdict.better else "good"


def _value(value: Any) -> str:
    if value is None:
        return NONE
    if isinstance(value, float):
        return shown(value) if 0 < value < 1 else f"{value:g}"
    return shortened(one_line(value), 48)
