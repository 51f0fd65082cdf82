"""One case of a comparison as blocks to print: in short, and in full."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from eval_pipeline.comparing.case_changes import CaseChange, Names, RunChange
from eval_pipeline.comparing.word_diff import side_of
from eval_pipeline.report.case_reports import CaseReport
from eval_pipeline.report.comparison_spans import Span, Style, cut, one_line, shortened, spans_of
from eval_pipeline.report.table import NONE, shown
from eval_pipeline.scores import CheckResult
from eval_pipeline.traces import ToolCall

LONGEST_REASON = 120


@dataclass(frozen=True)
class Line:
    """One line of spans."""

    spans: tuple[Span, ...]
    indent: int = 0
    label: str = ""
    """Stands before it in a column of its own."""


@dataclass(frozen=True)
class Answers:
    """Two answers with what differs marked: side by side where there is room."""

    before: tuple[Span, ...]
    after: tuple[Span, ...]
    indent: int = 0


def case_blocks(case: CaseChange) -> Iterator[Line | Answers]:
    """What moved in a case, answers cut to where they differ."""
    several = len(case.runs) > 1
    told = [run for run in case.runs if run.says_anything]
    heads = (Span(case.case_id, "heading", foreign=True), Span(f"  {_way(case)}"))
    yield Line(heads, indent=1)
    for run in told or case.runs[:1]:
        if several:
            where = f"repeat {run.after.trace.repeat}  {_outcomes(run)}"
            yield Line((Span(where, "dim"),), indent=2)
        yield from _run_blocks(run, case)


def full_case_blocks(case: CaseChange) -> Iterator[Line | Answers]:
    """Everything of a case on both sides, nothing cut."""
    if case.case is not None:
        yield Line((Span(case.case.question, foreign=True),), label="question")
        if case.case.reference is not None:
            yield Line((Span(case.case.reference, foreign=True),), label="reference")
    if case.edited:
        yield Line((Span("the case itself was edited in between: its outcomes are no pair", "bad"),))
    for run in case.runs:
        yield Line(())
        if len(case.runs) > 1:
            yield Line((Span(f"repeat {run.after.trace.repeat}", "heading"),))
        yield Line((Span(_outcomes(run)),), label="outcome")
        yield from _calls(run)
        yield from _names("pages", run.pages, case.expected_pages, indent=0)
        diff = run.answer_diff()
        yield Answers(spans_of(side_of(diff, "new")), spans_of(side_of(diff, "gone")))
        for name in run.stages:
            yield from _full_stage(name, run)


def outcome_words(check: CheckResult | None) -> str:
    """An outcome with its score, such as `failed 0.50`."""
    if check is None:
        return NONE
    word = check.outcome.replace("_", " ")
    if check.error_source is not None:
        word += f" ({check.error_source})"
    return word if check.score is None else f"{word} {shown(check.score.value)}"


def _way(case: CaseChange) -> str:
    if len(case.runs) == 1:
        return _outcomes(case.runs[0])
    before, after = case.passed
    return f"passes {before.passed}/{before.total} → {after.passed}/{after.total} runs"


def _outcomes(run: RunChange) -> str:
    before, after = _outcome(run.before), _outcome(run.after)
    return before if before == after else f"{before} → {after}"


def _outcome(run: CaseReport) -> str:
    if run.outcome == "passed":
        return "passes"
    where = "" if run.first_failure is None else f" at {run.first_failure}"
    if run.outcome == "error":
        return f"error{where} ({run.first_failure_source})"
    return f"{'fails' if run.outcome == 'failed' else 'not measured'}{where}"


def _run_blocks(run: RunChange, case: CaseChange) -> Iterator[Line | Answers]:
    for word, side in (("broke off before", run.before), ("broke off", run.after)):
        if error := side.trace.error:
            text = shortened(one_line(f"{error.source}: {error.kind}: {error.message}"))
            yield Line((Span(text, foreign=True),), indent=2, label=word)
    for name in run.moved:
        if _broke_off(run, name):
            continue
        before, after = run.before.checks.get(name), run.after.checks.get(name)
        advisory = "" if (after or before) is None or (after or before).gating else " [does not gate]"  # type: ignore[union-attr]
        style = _stage_style(before, after)
        spans = [Span(f"{outcome_words(before)} → {outcome_words(after)}{advisory}", style)]
        if after is not None:
            reason = shortened(one_line(after.reason), LONGEST_REASON)
            spans += [Span(": ", style), Span(reason, style, foreign=True)]
        yield Line(tuple(spans), indent=2, label=name)
    yield from _names("tools", run.tools, frozenset(), indent=2)
    yield from _names("pages", run.pages, case.expected_pages, indent=2)
    if run.answer_changed:
        diff = run.answer_diff()
        yield Answers(_cut_or_none(cut(side_of(diff, "new"))), _cut_or_none(cut(side_of(diff, "gone"))), 2)


def _broke_off(run: RunChange, stage: str) -> bool:
    """Whether a stage moved because a run broke off, which is told once for all of them."""
    after = run.after.checks.get(stage)
    if run.after.trace.error is not None:
        return after is None or after.outcome == "error"
    return run.before.trace.error is not None and after is not None and after.outcome == "passed"


def _cut_or_none(spans: tuple[Span, ...]) -> tuple[Span, ...]:
    return spans or (Span("(no answer)", "dim"),)


def _stage_style(before: CheckResult | None, after: CheckResult | None) -> Style:
    if after is None or before is None:
        return "plain"
    if after.outcome == "passed":
        return "good"
    return "bad" if before.outcome == "passed" else "plain"


def _names(label: str, names: Names, expected: frozenset[str], indent: int) -> Iterator[Line]:
    spans: list[Span] = []
    for word, listed in (("lost", names.lost), ("gained", names.gained)):
        if listed:
            counted = ((name, listed.count(name)) for name in dict.fromkeys(listed))
            marked = (_named(name, count, name in expected) for name, count in counted)
            spans += [Span(f"{'; ' if spans else ''}{word} "), Span(", ".join(marked), foreign=True)]
    if spans:
        yield Line(tuple(spans), indent=indent, label=label)


def _named(name: str, count: int, expected: bool) -> str:
    times = f" ×{count}" if count > 1 else ""
    return f"{name}{times}{' (expected)' if expected else ''}"


def _calls(run: RunChange) -> Iterator[Line]:
    before, after = _call_texts(run.before), _call_texts(run.after)
    sides = [("tools", after)] if before == after else [("tools before", before), ("tools after", after)]
    for label, calls in sides:
        yield Line((Span(", ".join(calls) or "no tool called", foreign=True),), label=label)


def _call_texts(run: CaseReport) -> list[str]:
    return [f"{call.name}({_arguments(call)})" for call in run.trace.tool_calls]


def _arguments(call: ToolCall) -> str:
    return ", ".join(
        f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in call.arguments.items()
    )


def _full_stage(name: str, run: RunChange) -> Iterator[Line]:
    checks: Sequence[CheckResult | None] = (run.before.checks.get(name), run.after.checks.get(name))
    before, after = checks
    style = _stage_style(before, after) if name in run.moved else "plain"
    same = outcome_words(before) == outcome_words(after)
    words = outcome_words(after) if same else f"{outcome_words(before)} → {outcome_words(after)}"
    gating = "" if after is None or after.gating else "  [does not gate]"
    yield Line((Span(words + gating, style),), label=name)
    if before is not None and after is not None and before.reason == after.reason:
        yield Line((Span(after.reason, foreign=True),), indent=1)
        return
    for word, check in (("before", before), ("after", after)):
        if check is not None:
            yield Line((Span(check.reason, foreign=True),), indent=1, label=word)
