"""What a case's repeats come to: how many passed, and where they disagree."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from eval_pipeline.gating.check_states import standing_of
from eval_pipeline.report.case_reports import CaseReport
from eval_pipeline.report.inert_text import visible

SHOWN_CASES = 20
"""Cases whose repeats disagree that are listed."""

Steadiness = Literal["every", "flaky", "none", "incomplete"]
"""Whether a case passes in every repeat, in some, in none, or was not measured often enough to say."""


@dataclass(frozen=True)
class CaseRepeats:
    """One case over all its repeats."""

    case_id: str
    runs: int
    measured: int
    """Runs that passed or did not; a system's error is measured, other errors are not."""
    passed: int
    flips: tuple[str, ...]
    """The stages that passed in one repeat and not in another, in the suite's order."""

    @property
    def steadiness(self) -> Steadiness:
        """How much its repeats agree on whether it passes."""
        if 0 < self.passed < self.measured:
            return "flaky"
        if self.measured < self.runs:
            return "incomplete"
        return "every" if self.passed else "none"


def sum_up_repeats(rows: Sequence[CaseReport]) -> tuple[CaseRepeats, ...]:
    """Each case over its repeats, in the order of the rows."""
    by_case: dict[str, list[CaseReport]] = {}
    for row in rows:
        by_case.setdefault(row.trace.case_id, []).append(row)
    return tuple(_sum_up(case_id, found) for case_id, found in by_case.items())


def _sum_up(case_id: str, rows: Sequence[CaseReport]) -> CaseRepeats:
    outcomes = [standing_of(row.outcome, row.first_failure_source) for row in rows]
    standings: dict[str, set[str]] = {}
    for row in rows:
        for stage, check in row.checks.items():
            standings.setdefault(stage, set()).add(standing_of(check.outcome, check.error_source))
    return CaseRepeats(
        case_id=case_id,
        runs=len(rows),
        measured=len(rows) - outcomes.count("unmeasured"),
        passed=outcomes.count("pass"),
        flips=tuple(stage for stage, found in standings.items() if found >= {"pass", "fail"}),
    )


def count_by_steadiness(cases: Sequence[CaseRepeats]) -> Mapping[Steadiness, int]:
    """How many cases are each, zeros included."""
    kinds: tuple[Steadiness, ...] = ("every", "flaky", "none", "incomplete")
    found = [case.steadiness for case in cases]
    return {kind: found.count(kind) for kind in kinds}


def repeat_lines(cases: Sequence[CaseRepeats], advisory: Collection[str]) -> Iterator[tuple[str, str]]:
    """Repeats as label and text: cases by steadiness, those whose repeats disagree, what rates count.

    Args:
        cases: each case over its repeats; none where each was run once.
        advisory: the stages that do not gate, which are put in brackets.
    """
    if not cases:
        return
    n = max(case.runs for case in cases)
    words: Mapping[Steadiness, str] = {
        "every": f"pass {n} of {n}",
        "flaky": "flaky",
        "none": f"pass 0 of {n}",
        "incomplete": "not measured in full",
    }
    counts = count_by_steadiness(cases)
    told = ", ".join(f"{counts[kind]} {text}" for kind, text in words.items() if counts[kind])
    yield "cases", f"{len(cases)}: {told}"
    unsteady = [case for case in cases if case.steadiness == "flaky" or case.flips]
    for case in unsteady[:SHOWN_CASES]:
        yield f"  {visible(case.case_id)}", _steadiness_text(case, advisory)
    if len(unsteady) > SHOWN_CASES:
        yield "  …", f"{len(unsteady) - SHOWN_CASES} more: eval-pipeline sql 'from current_case_repeats'"
    yield (
        "rates",
        f"count runs; their intervals are those of {len(cases)} cases, as repeats are no further cases",
    )


def _steadiness_text(case: CaseRepeats, advisory: Collection[str]) -> str:
    stages = ", ".join(f"({stage})" if stage in advisory else stage for stage in case.flips)
    parts = [f"passes {case.passed} of {case.measured}"]
    parts += [f"{case.runs - case.measured} not measured"] if case.measured < case.runs else []
    parts += [f"flips at {stages}"] if stages else []
    return f"{'flaky: ' if case.steadiness == 'flaky' else ''}{', '.join(parts)}"
