"""The numbers of a comparison as blocks to print: stage by stage, shifts, the prompt, and two judges."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from eval_pipeline.comparing.comparison import Comparison, StageChange
from eval_pipeline.comparing.judge_agreement import Disagreement, StageAgreement
from eval_pipeline.comparing.verdict import Verdict, shown_p
from eval_pipeline.comparing.word_diff import changed_lines
from eval_pipeline.report.comparison_cases import LONGEST_REASON, Line, outcome_words
from eval_pipeline.report.comparison_spans import Span, cut, one_line, shortened
from eval_pipeline.report.table import NONE
from eval_pipeline.statistics import Rate

MOST_LISTED = 20
"""Cases that a list names."""
MOST_LINES = 12
"""Lines of a changed prompt that are shown."""
_UNDEFINED = "undefined: one judge gives every run the same verdict"


@dataclass(frozen=True)
class Table:
    """Rows of our own words and numbers."""

    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def number_blocks(comparison: Comparison) -> Iterator[Line | Table]:
    """How many passed on each side, in all and stage by stage."""
    if not comparison.counted:
        return
    before, after = comparison.passed
    rows: list[tuple[str, ...]] = [("passed", str(before), str(after), *_changes(comparison.verdict))]
    measured = [stage for stage in comparison.stages if stage.before.total or stage.after.total]
    rows += [_stage_row(stage) for stage in measured]
    yield Line(())
    yield Table(("", "before", "after", "worse", "better", "p"), tuple(rows))
    if unmeasured := [stage.name for stage in comparison.stages if stage not in measured]:
        yield Line((Span(f"not measured on either side: {', '.join(unmeasured)}", "dim"),), indent=1)


def _stage_row(stage: StageChange) -> tuple[str, ...]:
    gates = {None: NONE, True: "gates", False: "advisory"}
    before, after = stage.gating
    noted = "" if before == after == True else f" ({gates[after]})"  # noqa: E712 - None is neither
    if before != after:
        noted = f" ({gates[before]} → {gates[after]})"
    return (stage.name + noted, _rate(stage.before), _rate(stage.after), *_changes(stage.verdict))


def _rate(rate: Rate) -> str:
    return str(rate) if rate.total else NONE


def _changes(verdict: Verdict) -> tuple[str, str, str]:
    return str(verdict.worse), str(verdict.better), NONE if verdict.p is None else shown_p(verdict.p)


def shift_blocks(comparison: Comparison) -> Iterator[Line | Table]:
    """Where first failures went."""
    if not comparison.shifts:
        return
    yield Line(())
    yield Line((Span("first failures that shifted", "heading"),))
    for shift in comparison.shifts:
        where = f"{shift.before or NONE} → {shift.after or NONE}"
        yield Line((Span(f"{where}: "), Span(listed(shift.case_ids), foreign=True)), indent=1)


def prompt_blocks(comparison: Comparison) -> Iterator[Line | Table]:
    """The lines of the prompt that changed."""
    prompt = comparison.prompt
    if prompt is None:
        return
    yield Line(())
    yield Line((Span(f"prompt ({prompt.before_sha} → {prompt.after_sha})", "heading"),))
    if prompt.diff is None:
        yield Line((Span("the text of one of them is not stored", "dim"),), indent=1)
        return
    lines = changed_lines(prompt.diff)
    for line in lines[:MOST_LINES]:
        yield Line(cut(line), indent=1)
    if len(lines) > MOST_LINES:
        yield Line((Span(f"and {len(lines) - MOST_LINES} more lines", "dim"),), indent=1)


def judge_blocks(comparison: Comparison) -> Iterator[Line | Table]:
    """How far two judges of the same traces agree, and where they do not."""
    yield Line(())
    first = next(iter(comparison.judges))
    names = " and ".join(judge for judge in judge_names(comparison) if judge)
    yield Line((Span(f"two judges on the same traces: {names}", "heading"),))
    yield Table(
        ("", "both scored", "agree", "pass before", "pass after", "kappa"),
        tuple(_agreement_row(stage) for stage in comparison.judges),
    )
    for stage in comparison.judges:
        for differing in stage.differ[:MOST_LISTED]:
            yield Line((Span(f"{stage.stage}  "), *_difference(differing)), indent=1)
    if not any(stage.both for stage in comparison.judges):
        yield Line((Span(f"neither judge is recorded for {first.stage}", "dim"),), indent=1)


def judge_names(comparison: Comparison) -> tuple[str | None, str | None]:
    """The judges of both sides, as results name them."""
    runs = [run for case in comparison.cases for run in case.runs]
    for stage in comparison.judges:
        for run in runs:
            before, after = run.before.checks.get(stage.stage), run.after.checks.get(stage.stage)
            if before is not None and after is not None:
                return before.judge, after.judge
    return None, None


def _agreement_row(stage: StageAgreement) -> tuple[str, ...]:
    kappa = _UNDEFINED if stage.kappa is None else f"{stage.kappa:.2f}"
    return (
        stage.stage,
        str(stage.both) + (f" ({stage.one_only} by one alone)" if stage.one_only else ""),
        str(stage.agree),
        *(str(passed) for passed in stage.passed),
        kappa if stage.both else NONE,
    )


def _difference(found: Disagreement) -> Iterator[Span]:
    yield Span(found.case_id, foreign=True)
    for between, check in (("  ", found.before), ("  |  ", found.after)):
        yield Span(f"{between}{outcome_words(check)}: ")
        yield Span(shortened(one_line(check.reason), LONGEST_REASON), foreign=True)


def listed(case_ids: Sequence[str]) -> str:
    """The ids of cases, of many the first ones."""
    more = f" and {len(case_ids) - MOST_LISTED} more" if len(case_ids) > MOST_LISTED else ""
    return ", ".join(case_ids[:MOST_LISTED]) + more
