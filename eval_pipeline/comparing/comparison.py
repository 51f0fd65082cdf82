"""Two sides compared: the verdict, the cases that moved, the stages, and what may explain it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from eval_pipeline.comparing.case_changes import (
    CaseChange,
    RunChange,
    compare_case,
    direction,
    rate_of_reports,
)
from eval_pipeline.comparing.configuration import (
    Change,
    PromptChange,
    configuration_changes,
    prompt_change,
)
from eval_pipeline.comparing.judge_agreement import StageAgreement, judge_agreements, same_traces
from eval_pipeline.comparing.sides import Side
from eval_pipeline.comparing.verdict import Verdict, count_directions
from eval_pipeline.report.summary import rate_of_runs
from eval_pipeline.scores import CheckResult
from eval_pipeline.statistics import Rate
from eval_pipeline.suites import Cell


@dataclass(frozen=True)
class StageChange:
    """One stage over the cases that both sides have and nobody edited."""

    name: str
    before: Rate
    """Passed of measured, repeats counted one by one; the interval is that of the cases."""
    after: Rate
    verdict: Verdict
    """By case, of those that it applies to on both sides."""
    gating: tuple[bool | None, bool | None]
    """Whether it counts for a case, on each side; None where it has no outcome there."""


@dataclass(frozen=True)
class Shift:
    """Runs whose first failing stage was one and is another; None stands for no failure."""

    before: str | None
    after: str | None
    case_ids: tuple[str, ...]


@dataclass(frozen=True)
class Comparison:
    """Everything that differs between two stored cells."""

    before: Cell
    after: Cell
    changes: tuple[Change, ...]
    """Of the configuration, the prompt's text apart."""
    prompt: PromptChange | None
    cases: tuple[CaseChange, ...]
    """Those that both sides have, in the order of the second."""
    only_before: tuple[str, ...]
    only_after: tuple[str, ...]
    judges: tuple[StageAgreement, ...]
    """How far two judges agree; empty unless they judged the same traces."""
    passed: tuple[Rate, Rate]
    """Runs that pass, of the measured ones, over the pairs that the verdict counts."""
    ladder: tuple[str, ...]
    """The declared stages of the later side in their order, then those that only the earlier one declares."""

    @cached_property
    def counted(self) -> tuple[CaseChange, ...]:
        """The cases whose outcomes are pairs: those that nobody edited."""
        return tuple(case for case in self.cases if not case.edited)

    @cached_property
    def changed(self) -> tuple[CaseChange, ...]:
        """The cases of which anything but a reason differs."""
        return tuple(case for case in self.cases if case.changed)

    @cached_property
    def edited(self) -> tuple[CaseChange, ...]:
        """The cases whose question, reference or expectations differ."""
        return tuple(case for case in self.cases if case.edited)

    @cached_property
    def verdict(self) -> Verdict:
        """What became of the cases that nobody edited."""
        return count_directions(case.direction for case in self.counted)

    @cached_property
    def stages(self) -> tuple[StageChange, ...]:
        """Stage by stage, in the suite's order."""
        runs = _runs(self.counted)
        found = dict.fromkeys(name for run in runs for name in run.stages)
        names = dict.fromkeys([*(name for name in self.ladder if name in found), *found])
        return tuple(_stage_change(name, self.counted) for name in names)

    @cached_property
    def shifts(self) -> tuple[Shift, ...]:
        """Where the first failure went, the most frequent first."""
        found: dict[tuple[str | None, str | None], list[str]] = {}
        for case in self.counted:
            for run in case.runs:
                if run.first_failure_shifted:
                    place = run.before.first_failure, run.after.first_failure
                    found.setdefault(place, []).append(case.case_id)
        shifts = [Shift(*place, tuple(dict.fromkeys(ids))) for place, ids in found.items()]
        return tuple(sorted(shifts, key=lambda shift: -len(shift.case_ids)))

    @property
    def same_traces(self) -> bool:
        """Whether the system did exactly the same on every common case."""
        return same_traces(_runs(self.cases))

    @property
    def judges_differ(self) -> bool:
        """Whether the judged stages were judged by another judge, or with another rubric."""
        return any(change.name == "judge id" for change in self.changes)


def compare(before: Side, after: Side) -> Comparison:
    """Compare two stored cells, case by case where both have the case."""
    common = [case_id for case_id in after.runs if case_id in before.runs]
    cases = tuple(
        compare_case(
            case_id,
            (before.cases.get(case_id), after.cases.get(case_id)),
            before.runs[case_id],
            after.runs[case_id],
        )
        for case_id in common
    )
    runs = _runs(cases)
    counted = _runs([case for case in cases if not case.edited])
    return Comparison(
        before=before.cell,
        after=after.cell,
        changes=configuration_changes(before, after),
        prompt=prompt_change(before, after),
        cases=cases,
        only_before=tuple(case_id for case_id in before.runs if case_id not in after.runs),
        only_after=tuple(case_id for case_id in after.runs if case_id not in before.runs),
        judges=judge_agreements(runs) if same_traces(runs) else (),
        passed=(
            rate_of_reports(run.before for run in counted),
            rate_of_reports(run.after for run in counted),
        ),
        ladder=tuple(
            dict.fromkeys(stage["name"] for side in (after, before) for stage in side.key.get("stages", ()))
        ),
    )


def _runs(cases: Sequence[CaseChange]) -> list[RunChange]:
    return [run for case in cases for run in case.runs]


def _stage_change(name: str, cases: Sequence[CaseChange]) -> StageChange:
    by_case = [_rates(name, case) for case in cases]
    pairs = [pair for pair in by_case if pair is not None]
    befores = [check for case in cases for check in _checks(name, [run.before.checks for run in case.runs])]
    afters = [check for case in cases for check in _checks(name, [run.after.checks for run in case.runs])]
    return StageChange(
        name=name,
        before=_rate(befores),
        after=_rate(afters),
        verdict=count_directions(direction(*pair) for pair in pairs),
        gating=(_gates(befores), _gates(afters)),
    )


def _rates(name: str, case: CaseChange) -> tuple[Rate, Rate] | None:
    befores = list(_checks(name, [run.before.checks for run in case.runs]))
    afters = list(_checks(name, [run.after.checks for run in case.runs]))
    return (_rate(befores), _rate(afters)) if befores and afters else None


def _checks(name: str, found: Sequence[Mapping[str, CheckResult]]) -> Iterator[CheckResult]:
    yield from (checks[name] for checks in found if name in checks)


def _rate(checks: Sequence[CheckResult]) -> Rate:
    return rate_of_runs((check.case_id, check.outcome, check.error_source) for check in checks)


def _gates(checks: Sequence[CheckResult]) -> bool | None:
    return any(check.gating for check in checks) if checks else None
