"""What became of one case: its outcome, and the first declared stage that did not pass."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from eval_pipeline.cases import Case
from eval_pipeline.errors import ErrorSource
from eval_pipeline.scores import CheckResult, Outcome, Stage
from eval_pipeline.traces import AgentTrace


@dataclass(frozen=True)
class CaseReport:
    """One case of one repeat: what the system did, how each stage came out, and where it failed first."""

    question: str
    trace: AgentTrace
    checks: Mapping[str, CheckResult]
    """By stage, in the suite's order; a stage that does not apply is left out."""
    outcome: Outcome
    """That of the first failing stage; `not_measured` when no gating stage applies."""
    first_failure: str | None
    """The first gating stage that did not pass; the error's source when the run broke off and all passed."""
    first_failure_outcome: Outcome | None
    first_failure_source: ErrorSource | None
    """Whose doing it was, when the first failure is an error."""
    first_advisory_failure: str | None
    """The first stage that failed without gating."""
    scored: tuple[CheckResult, ...] = ()
    """All that was scored of it, so that a judge's further repeats are in it too."""


def report_case(
    case: Case, trace: AgentTrace, checks: Sequence[CheckResult], stages: Sequence[Stage]
) -> CaseReport:
    """Walk the declared stages of one trace.

    Args:
        case: what was asked and expected.
        trace: what the system did.
        checks: the outcomes of this trace, in any order; of a judge's repeats the first counts.
        stages: the suite's stages, in order. One that applies and has no outcome is `not_measured`.
    """
    found: dict[str, CheckResult] = {}
    for check in sorted(checks, key=lambda check: check.judge_repeat):
        found.setdefault(check.stage, check)
    by_stage = {
        stage.name: found.get(stage.name) or _unscored(stage, trace)
        for stage in stages
        if stage.name in found or stage.applies(case)
    }
    gating = [check for check in by_stage.values() if check.gating]
    first = next((check for check in gating if check.outcome != "passed"), None)
    advisory = (check.stage for check in by_stage.values() if not check.gating and check.outcome == "failed")
    name, outcome, source = None, None, None
    if first is not None:
        name, outcome, source = first.stage, first.outcome, first.error_source
    elif trace.error is not None:
        name, outcome, source = trace.error.source, "error", trace.error.source
    return CaseReport(
        question=case.question,
        trace=trace,
        checks=by_stage,
        outcome=outcome or ("passed" if gating else "not_measured"),
        first_failure=name,
        first_failure_outcome=outcome,
        first_failure_source=source,
        first_advisory_failure=next(advisory, None),
        scored=tuple(checks),
    )


def _unscored(stage: Stage, trace: AgentTrace) -> CheckResult:
    return CheckResult(
        case_id=trace.case_id,
        repeat=trace.repeat,
        stage=stage.name,
        outcome="not_measured",
        gating=stage.gating == "always",
        threshold=stage.threshold,
        reason="this stage applies and has not been scored",
    )
