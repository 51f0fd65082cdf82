"""Two judges on the same traces: how far they agree, stage by stage."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from eval_pipeline.comparing.case_changes import RunChange
from eval_pipeline.scores import CheckResult
from eval_pipeline.statistics import cohens_kappa


@dataclass(frozen=True)
class Disagreement:
    """One run that one judge passes and the other fails."""

    case_id: str
    repeat: int
    before: CheckResult
    after: CheckResult


@dataclass(frozen=True)
class StageAgreement:
    """Two judges on one stage, over the runs that both could score."""

    stage: str
    both: int
    """Runs scored by both."""
    one_only: int
    """Runs scored by one of them alone, which count in nothing else."""
    passed: tuple[int, int]
    """How many of the runs scored by both each of them passes."""
    differ: tuple[Disagreement, ...]

    @property
    def agree(self) -> int:
        """Runs that both pass, or both fail."""
        return self.both - len(self.differ)

    kappa: float | None = None
    """Cohen's kappa; None without a run, and where either judge says only one of the two."""


def same_traces(runs: Sequence[RunChange]) -> bool:
    """Whether the system did the same in every run, so that only who judged it can differ."""
    return bool(runs) and all(_did(run.before) == _did(run.after) for run in runs)


def judge_agreements(runs: Sequence[RunChange]) -> tuple[StageAgreement, ...]:
    """How far the judges of the two sides agree, for each stage that both judged by another judge."""
    stages = dict.fromkeys(name for run in runs for name in run.stages)
    found = (_agreement(stage, _judged(runs, stage)) for stage in stages if _judged(runs, stage))
    return tuple(found)


def _did(run) -> tuple[object, ...]:  # type: ignore[no-untyped-def]
    trace = run.trace
    return trace.answer, trace.structured, trace.tool_calls, trace.context, trace.error


def _judged(runs: Sequence[RunChange], stage: str) -> list[tuple[CheckResult, CheckResult]]:
    """The outcomes of a stage, where two different judges gave them."""
    pairs = ((run.before.checks.get(stage), run.after.checks.get(stage)) for run in runs)
    return [
        (before, after)
        for before, after in pairs
        if before is not None and after is not None
        if before.judge is not None and after.judge is not None and before.judge != after.judge
    ]


def _agreement(stage: str, pairs: Sequence[tuple[CheckResult, CheckResult]]) -> StageAgreement:
    scored = [pair for pair in pairs if all(check.score is not None for check in pair)]
    verdicts = [(before.outcome == "passed", after.outcome == "passed") for before, after in scored]
    passed = sum(a for a, _ in verdicts), sum(b for _, b in verdicts)
    one_class = passed[1] in (0, len(verdicts))
    return StageAgreement(
        stage=stage,
        both=len(scored),
        one_only=sum((a.score is None) != (b.score is None) for a, b in pairs),
        passed=passed,
        differ=tuple(
            Disagreement(after.case_id, after.repeat, before, after)
            for before, after in scored
            if before.outcome != after.outcome
        ),
        kappa=None if one_class else cohens_kappa(verdicts),
    )
