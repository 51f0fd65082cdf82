"""One case on both sides: whether it got worse or better, and what moved in each of its repeats."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from eval_pipeline.cases import Case
from eval_pipeline.comparing.word_diff import Segment, word_diff
from eval_pipeline.errors import ErrorSource
from eval_pipeline.report.case_reports import CaseReport
from eval_pipeline.report.summary import rate_of_runs
from eval_pipeline.scores import CheckResult, Outcome
from eval_pipeline.statistics import Rate

Direction = Literal["worse", "better", "same", "unmeasured"]


@dataclass(frozen=True)
class Names:
    """Names, such as pages retrieved or tools called, that one side has more often than the other."""

    gained: tuple[str, ...]
    lost: tuple[str, ...]


NONE = Names((), ())


@dataclass(frozen=True)
class RunChange:
    """One repeat of a case on both sides."""

    before: CaseReport
    after: CaseReport

    @cached_property
    def stages(self) -> tuple[str, ...]:
        """Every stage that has an outcome on either side, in the suite's order."""
        return tuple(dict.fromkeys([*self.after.checks, *self.before.checks]))

    @cached_property
    def moved(self) -> tuple[str, ...]:
        """The stages whose outcome is another one now."""
        return tuple(name for name in self.stages if _stand(self.before, name) != _stand(self.after, name))

    @property
    def first_failure_shifted(self) -> bool:
        """Whether the first failing stage is another one now, or none."""
        return _first(self.before) != _first(self.after)

    @property
    def rescored(self) -> tuple[str, ...]:
        """The stages whose score is another one now, whether it moves an outcome or not."""
        return tuple(name for name in self.stages if _score(self.before, name) != _score(self.after, name))

    @cached_property
    def pages(self) -> Names:
        """Retrieved pages, each counted once."""
        before, after = (
            list(dict.fromkeys(found.id for found in run.trace.retrieved))
            for run in (self.before, self.after)
        )
        return _names(before, after)

    @cached_property
    def tools(self) -> Names:
        """Tools called, as often as they were."""
        before, after = ([call.name for call in run.trace.tool_calls] for run in (self.before, self.after))
        return _names(before, after)

    @cached_property
    def answer_changed(self) -> bool:
        """Whether the answers differ in any sign."""
        return answer_of(self.before) != answer_of(self.after)

    def answer_diff(self) -> tuple[Segment, ...]:
        """The answers word by word; no answer is an empty one."""
        return word_diff(answer_of(self.before) or "", answer_of(self.after) or "")

    @property
    def says_anything(self) -> bool:
        """Whether anything that people read of it differs."""
        return (
            bool(self.moved)
            or self.first_failure_shifted
            or self.answer_changed
            or self.pages != NONE
            or self.tools != NONE
        )


@dataclass(frozen=True)
class CaseChange:
    """One case that both sides have, with the repeats that both have."""

    case_id: str
    case: Case | None
    """As the later side has it; None where its cases are not stored."""
    edited: bool
    """Whether question, reference or expectations differ: then its outcomes are no pair."""
    runs: tuple[RunChange, ...]

    @cached_property
    def changed(self) -> bool:
        """Whether it was edited, or came out otherwise in anything but its reasons."""
        if self.edited or self.passed[0].value != self.passed[1].value:
            return True
        return any(run.says_anything or run.rescored for run in self.runs)

    @cached_property
    def direction(self) -> Direction:
        """Worse or better by the share of its measured repeats that pass."""
        return direction(self.passed[0], self.passed[1])

    @cached_property
    def passed(self) -> tuple[Rate, Rate]:
        """Repeats that pass every gating stage, of the measured ones, before and after."""
        return (
            rate_of_reports(run.before for run in self.runs),
            rate_of_reports(run.after for run in self.runs),
        )

    @property
    def expected_pages(self) -> frozenset[str]:
        """The pages that the case expects."""
        pages = None if self.case is None else self.case.expected.get("pages")
        return frozenset(pages) if isinstance(pages, (list, tuple)) else frozenset()


def compare_case(
    case_id: str,
    cases: tuple[Case | None, Case | None],
    before: Sequence[CaseReport],
    after: Sequence[CaseReport],
) -> CaseChange:
    """A case on both sides, repeat by repeat.

    Args:
        case_id: its id.
        cases: the case as each side has it; None where that is not stored.
        before: its runs on the first side.
        after: its runs on the second.
    """
    earlier = {run.trace.repeat: run for run in before}
    runs = tuple(RunChange(earlier[run.trace.repeat], run) for run in after if run.trace.repeat in earlier)
    return CaseChange(case_id, cases[1] or cases[0], _edited(*cases), runs)


def rate_of_reports(runs: Iterable[CaseReport]) -> Rate:
    """Runs that pass every gating stage, of the measured ones."""
    return rate_of_runs((run.trace.case_id, run.outcome, run.first_failure_source) for run in runs)


def direction(before: Rate, after: Rate) -> Direction:
    """Which way a share went."""
    if before.value is None or after.value is None:
        return "unmeasured"
    if before.value == after.value:
        return "same"
    return "worse" if after.value < before.value else "better"


def answer_of(run: CaseReport) -> str | None:
    """What a run answered: its text, or else its structured output as JSON."""
    trace = run.trace
    if trace.answer is not None or trace.structured is None:
        return trace.answer
    return json.dumps(trace.structured, ensure_ascii=False, sort_keys=True, indent=1)


def _stand(run: CaseReport, stage: str) -> tuple[Outcome, ErrorSource | None] | None:
    check: CheckResult | None = run.checks.get(stage)
    return None if check is None else (check.outcome, check.error_source)


def _score(run: CaseReport, stage: str) -> float | None:
    check: CheckResult | None = run.checks.get(stage)
    return None if check is None or check.score is None else check.score.value


def _first(run: CaseReport) -> tuple[str | None, str | None]:
    return run.first_failure, run.first_failure_outcome


def _names(before: Sequence[str], after: Sequence[str]) -> Names:
    a, b = Counter(before), Counter(after)
    return Names(tuple((b - a).elements()), tuple((a - b).elements()))


def _edited(before: Case | None, after: Case | None) -> bool:
    if before is None or after is None:
        return False
    # What a case leaves out is stored with its default, which a later stage may have added.
    written = [
        {name: value for name, value in case.expected.items() if value or (name in other.expected)}
        for case, other in ((before, after), (after, before))
    ]
    return (before.input, before.reference, written[0]) != (after.input, after.reference, written[1])
