"""A comparison as plain JSON, by names that stay; docs/diff.md says what each holds."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from eval_pipeline.comparing.case_changes import CaseChange, Names, RunChange, answer_of
from eval_pipeline.comparing.comparison import Comparison, StageChange
from eval_pipeline.comparing.configuration import PromptChange
from eval_pipeline.comparing.judge_agreement import StageAgreement
from eval_pipeline.comparing.verdict import Verdict
from eval_pipeline.comparing.word_diff import Segment
from eval_pipeline.report.case_reports import CaseReport
from eval_pipeline.report.comparison_blocks import notes
from eval_pipeline.report.comparison_numbers import judge_names
from eval_pipeline.scores import CheckResult
from eval_pipeline.statistics import Rate
from eval_pipeline.suites import Cell
from eval_pipeline.warehouse.stored_text import indented_json, plain

VERSION = 2
"""Raised when a name goes or begins to mean something else; a new name does not raise it."""


def comparisons_json(
    suite: str, comparisons: Iterable[Comparison], case_id: str | None = None, *, all_cases: bool = False
) -> str:
    """The comparisons of a suite as indented JSON text with a line end.

    Args:
        suite: its name.
        comparisons: one a dataset.
        case_id: the one case that is listed, changed or not; left out: those that changed.
        all_cases: whether the others are listed too.
    """
    data = {
        "version": VERSION,
        "suite": suite,
        "comparisons": [_comparison(comparison, case_id, all_cases) for comparison in comparisons],
    }
    return indented_json(plain(data, "diff")) + "\n"


def _comparison(comparison: Comparison, case_id: str | None, all_cases: bool) -> dict[str, Any]:
    cases = comparison.cases if all_cases else comparison.changed
    if case_id is not None:
        cases = tuple(case for case in comparison.cases if case.case_id == case_id)
    return {
        "before": _cell(comparison.before),
        "after": _cell(comparison.after),
        "verdict": _verdict(comparison.verdict),
        "passed": {"before": _rate(comparison.passed[0]), "after": _rate(comparison.passed[1])},
        "notes": notes(comparison),
        "changes": [
            {"name": change.name, "before": change.before, "after": change.after}
            for change in comparison.changes
        ],
        "prompt": _prompt(comparison.prompt),
        "cases": [_case(case) for case in cases],
        "unchanged": len(comparison.cases) - len(comparison.changed),
        "only_before": comparison.only_before,
        "only_after": comparison.only_after,
        "stages": {stage.name: _stage(stage) for stage in comparison.stages},
        "first_failures": [
            {"before": shift.before, "after": shift.after, "cases": shift.case_ids}
            for shift in comparison.shifts
        ],
        "same_traces": comparison.same_traces,
        "judges": _judges(comparison),
    }


def _cell(cell: Cell) -> dict[str, str]:
    return {"candidate": cell.candidate, "dataset": cell.dataset}


def _verdict(verdict: Verdict) -> dict[str, Any]:
    return {
        "worse": verdict.worse,
        "better": verdict.better,
        "same": verdict.same,
        "unmeasured": verdict.unmeasured,
        "pairs": verdict.pairs,
        "p": verdict.p,
        "text": verdict.words,
    }


def _rate(rate: Rate) -> dict[str, Any]:
    return {"passed": rate.passed, "of": rate.total, "value": rate.value}


def _prompt(prompt: PromptChange | None) -> dict[str, Any] | None:
    if prompt is None:
        return None
    diff = None if prompt.diff is None else _segments(prompt.diff)
    return {"before_sha": prompt.before_sha, "after_sha": prompt.after_sha, "diff": diff}


def _segments(segments: Sequence[Segment]) -> list[dict[str, str]]:
    return [{"kind": segment.kind, "text": segment.text} for segment in segments]


def _case(case: CaseChange) -> dict[str, Any]:
    before, after = case.passed
    return {
        "id": case.case_id,
        "question": None if case.case is None else case.case.question,
        "edited": case.edited,
        "direction": case.direction,
        "passed": {"before": _rate(before), "after": _rate(after)},
        "runs": [_run(run) for run in case.runs],
    }


def _run(run: RunChange) -> dict[str, Any]:
    return {
        "repeat": run.after.trace.repeat,
        "outcome": {"before": run.before.outcome, "after": run.after.outcome},
        "first_failure": {"before": _first_failure(run.before), "after": _first_failure(run.after)},
        "moved": run.moved,
        "stages": {
            name: {
                "before": _check(run.before.checks.get(name)),
                "after": _check(run.after.checks.get(name)),
            }
            for name in run.stages
        },
        "pages": _names(run.pages),
        "tools": _names(run.tools),
        "answer": {
            "changed": run.answer_changed,
            "before": answer_of(run.before),
            "after": answer_of(run.after),
            "diff": _segments(run.answer_diff()) if run.answer_changed else [],
        },
    }


def _first_failure(run: CaseReport) -> dict[str, Any] | None:
    if run.first_failure is None:
        return None
    return {
        "stage": run.first_failure,
        "outcome": run.first_failure_outcome,
        "error_source": run.first_failure_source,
    }


def _check(check: CheckResult | None) -> dict[str, Any] | None:
    if check is None:
        return None
    return {
        "outcome": check.outcome,
        "score": None if check.score is None else check.score.value,
        "gating": check.gating,
        "reason": check.reason,
        "error_source": check.error_source,
        "judge": check.judge,
    }


def _names(names: Names) -> dict[str, Any]:
    return {"gained": names.gained, "lost": names.lost}


def _stage(stage: StageChange) -> dict[str, Any]:
    return {
        "before": _rate(stage.before),
        "after": _rate(stage.after),
        "gating": {"before": stage.gating[0], "after": stage.gating[1]},
        "verdict": _verdict(stage.verdict),
    }


def _judges(comparison: Comparison) -> dict[str, Any] | None:
    if not comparison.judges:
        return None
    before, after = judge_names(comparison)
    return {
        "before": before,
        "after": after,
        "stages": {stage.stage: _agreement(stage) for stage in comparison.judges},
    }


def _agreement(stage: StageAgreement) -> dict[str, Any]:
    return {
        "both": stage.both,
        "one_only": stage.one_only,
        "agree": stage.agree,
        "passed": {"before": stage.passed[0], "after": stage.passed[1]},
        "kappa": stage.kappa,
        "differ": [
            {
                "id": found.case_id,
                "repeat": found.repeat,
                "before": _check(found.before),
                "after": _check(found.after),
            }
            for found in stage.differ
        ],
    }
