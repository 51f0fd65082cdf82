"""The decision: pure, from two runs, a policy and the judge's calibration to a verdict with its reasons."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence

from eval_pipeline.gating.check_states import StatedCheck, state_checks
from eval_pipeline.gating.comparability import Comparability, compare_components
from eval_pipeline.gating.comparison import Comparison, compare_tests, list_tests
from eval_pipeline.gating.decision import (
    PRECEDENCE,
    AdvisoryStage,
    ComparedTest,
    GateDecision,
    Reason,
    Verdict,
)
from eval_pipeline.gating.first_failures import find_shifts, order_stages
from eval_pipeline.gating.node_names import NamePatterns
from eval_pipeline.gating.outcomes import JudgeRecord, Outcomes
from eval_pipeline.gating.pass_rates import pass_rates, rate_of
from eval_pipeline.gating.policy import Policy
from eval_pipeline.gating.rules import (
    check_critical,
    check_critical_measured,
    check_critical_missing,
    check_gating_lost,
    check_judges,
    check_measured,
    check_pass_rate,
    check_regressions,
    check_repeats,
)


def decide(
    baseline: Outcomes | None,
    candidate: Outcomes,
    policy: Policy,
    calibration: Mapping[str, JudgeRecord] | None = None,
    *,
    declared: Outcomes | None = None,
    candidate_name: str | None = None,
) -> GateDecision:
    """Decide whether a candidate may replace its baseline.

    Every rule is applied and every broken one is a reason; of their verdicts the first in the order
    incomparable, block, inconclusive counts, and without a reason it is a pass. Rules that compare
    tests are left out where the sides cannot be compared; those about the candidate alone are not.

    Args:
        baseline: the accepted run; None when the dataset has none.
        candidate: the run to decide on.
        policy: the rules.
        calibration: the judge's record by stage; between files, what the candidate's holds. A stage
            not in it has an uncalibrated judge; with None nothing is known of the judge, and whether
            outcomes gate is taken from themselves.
        declared: every test that the suite declares, for a policy may name those of another dataset.
        candidate_name: what the suite calls the candidate, for the command that promotes it.

    Raises:
        PolicyError: when the policy names something that neither side has, nor the suite declares.
    """
    policy.refuse_unmatched_names(*(known for known in (baseline, candidate, declared) if known is not None))
    after = state_checks(candidate, policy.case_passes)
    before = None if baseline is None else state_checks(baseline, policy.case_passes)
    components = _compare_sides(baseline, before, candidate, policy, candidate_name)
    comparison = None if before is None or components.reasons else compare_tests(before, after)
    tests = list_tests(after) if comparison is None else comparison.tests
    present = tuple(test for test in tests if test.candidate is not None)
    critical = NamePatterns(policy.critical)
    failures = tuple(test for test in present if _fails(test) and critical.match(test))
    missing = comparison.missing if comparison else ()
    unmeasured = tuple(t for t in present if t.candidate and t.candidate.standing == "unmeasured")
    sides = [side for side in (baseline, candidate) if side is not None]
    ladder = order_stages([side.eval for side in sides], *([before] if before else []), after)
    rates = pass_rates(before, after, ladder)
    rate = rates[0].candidate
    reasons = [
        *components.reasons,
        *(check_regressions(comparison, policy) if comparison else ()),
        *check_critical(failures),
        *check_critical_missing([test for test in missing if critical.match(test)]),
        *check_critical_measured([test for test in unmeasured if critical.match(test)], missing),
        *check_pass_rate(rate, policy),
        *check_measured(unmeasured, rate, policy),
        *check_repeats(after, policy),
        *check_judges(candidate, policy, calibration),
        *(check_gating_lost(comparison) if comparison else ()),
    ]
    compared = comparison or Comparison((), (), (), (), (), ())
    return GateDecision(
        verdict=_verdict(reasons),
        reasons=tuple(sorted(reasons, key=lambda reason: PRECEDENCE.index(reason.verdict))),
        baseline=baseline.eval if baseline else None,
        candidate=candidate.eval,
        changes=components.changes,
        notes=(*components.notes, *_notes(candidate, comparison, policy)),
        rates=rates,
        tests=tests,
        compared=comparison is not None,
        regressed=compared.regressed,
        fixed=compared.fixed,
        critical_failures=failures,
        missing=missing,
        new=compared.new,
        errors=tuple(test for test in present if test.candidate and test.candidate.errored),
        unmeasured=unmeasured,
        flaky=tuple(test for test in present if test.candidate and test.candidate.flips),
        shifts=find_shifts(before, after, ladder) if comparison and before else (),
        advisory=_advisory(after, calibration),
        baseline_usage=baseline.usage if baseline else None,
        candidate_usage=candidate.usage,
        digests=(_digest(baseline), _digest(candidate)),
    )


def promote_command(suite: str, dataset: str, candidate: str = "NAME") -> str:
    """The command that makes a candidate's run the baseline of a dataset."""
    return shlex.join(["eval-pipeline", "promote", suite, "--candidate", candidate, "--dataset", dataset])


def _digest(side: Outcomes | None) -> str | None:
    return side.imported.digest if side and side.imported else None


def _verdict(reasons: Sequence[Reason]) -> Verdict:
    called = {reason.verdict for reason in reasons}
    return next((verdict for verdict in PRECEDENCE if verdict in called), "pass")


def _compare_sides(
    baseline: Outcomes | None,
    before: Mapping[str, StatedCheck] | None,
    candidate: Outcomes,
    policy: Policy,
    candidate_name: str | None,
) -> Comparability:
    """What the sides differ in; a baseline that holds nothing to compare with is none."""
    if baseline is None or before is None:
        block = candidate.eval
        command = promote_command(block.suite or "SUITE", block.dataset_name, candidate_name or "NAME")
        text = f"no baseline for dataset {block.dataset_name!r}; promote an accepted run of it: {command}"
        return Comparability((), (Reason("incomparable", "baseline", text),), ())
    components = compare_components(baseline, candidate, policy)
    if any(check.outcome.gating and check.state.standing != "unmeasured" for check in before.values()):
        return components
    text = "the baseline has no measured gating test; promote a run that was measured"
    reasons = (*components.reasons, Reason("incomparable", "baseline", text))
    return Comparability(components.changes, reasons, components.notes)


def _fails(test: ComparedTest) -> bool:
    return test.candidate is not None and test.candidate.standing == "fail"


def _notes(candidate: Outcomes, comparison: Comparison | None, policy: Policy) -> list[str]:
    """What a reader should know beside the reasons."""
    notes = []
    patterns = NamePatterns(policy.critical)
    silent = {test.check for test in candidate.tests if not test.gating and patterns.match(test)}
    if silent:
        silent -= {test.check for test in candidate.tests if test.gating}
    notes += [f"{check} is critical but only advises, so that it decides nothing" for check in sorted(silent)]
    if comparison:
        blind = [t for t in comparison.tests if t.baseline and t.baseline.standing == "unmeasured"]
        if blind:
            notes.append(f"{len(blind)} of the baseline's tests are unmeasured: no regression shows there")
    return notes


def _advisory(
    after: Mapping[str, StatedCheck], calibration: Mapping[str, JudgeRecord] | None
) -> tuple[AdvisoryStage, ...]:
    """Stages whose checks do not gate, in the order of the file."""
    grouped: dict[str, list[StatedCheck]] = {}
    for check in after.values():
        if not check.outcome.gating:
            grouped.setdefault(check.outcome.check, []).append(check)
    records = calibration or {}
    return tuple(
        AdvisoryStage(name, rate_of(check.state for check in checks), records.get(name))
        for name, checks in grouped.items()
    )
