"""The rules of a gate: each looks at one thing, and gives a reason for every way it is broken."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from eval_pipeline.gating.check_states import StatedCheck
from eval_pipeline.gating.comparison import Comparison
from eval_pipeline.gating.decision import ComparedTest, Reason
from eval_pipeline.gating.node_names import NamePatterns
from eval_pipeline.gating.outcomes import JudgeRecord, Outcomes
from eval_pipeline.gating.policy import Policy
from eval_pipeline.statistics import Rate

_NAMED = 5


def count_tests(tests: Sequence[object], noun: str) -> str:
    """`1 regression`, `2 regressions`."""
    return f"{len(tests)} {noun}{'' if len(tests) == 1 else 's'}"


def name_tests(tests: Sequence[ComparedTest]) -> str:
    """The first few tests by name, each with what happened to it."""
    named = [f"{test.nodeid} {describe_change(test)}" for test in tests[:_NAMED]]
    more = [f"and {len(tests) - _NAMED} more"] if len(tests) > _NAMED else []
    return ", ".join([*named, *more])


def describe_change(test: ComparedTest) -> str:
    """`passed → failed`; of a side that lacks the test, `missing`."""
    after = test.candidate.label if test.candidate else "missing"
    return f"({test.baseline.label} → {after})" if test.baseline else f"({after})"


def check_regressions(comparison: Comparison, policy: Policy) -> list[Reason]:
    """Regressions above the limit, and any of a protected case."""
    reasons, regressed = [], comparison.regressed
    if len(regressed) > policy.max_regressions:
        text = (
            f"{count_tests(regressed, 'regression')}, max_regressions is {policy.max_regressions}: "
            f"{name_tests(regressed)}"
        )
        reasons.append(Reason("block", "max_regressions", text, _ids(regressed)))
    protected = NamePatterns(policy.protected_cases)
    hit = [test for test in regressed if protected.match_text(test.case)]
    if hit:
        text = f"{count_tests(hit, 'regression')} in protected_cases: {name_tests(hit)}"
        reasons.append(Reason("block", "protected_cases", text, _ids(hit)))
    return reasons


def check_critical(failures: Sequence[ComparedTest]) -> list[Reason]:
    """Any failure of a critical test, whatever the baseline did."""
    if not failures:
        return []
    text = f"{count_tests(failures, 'critical failure')}: {name_tests(failures)}"
    return [Reason("block", "critical", text, _ids(failures))]


def check_critical_missing(missing: Sequence[ComparedTest]) -> list[Reason]:
    """A critical test of the baseline that the candidate lacks or skips, passing or not."""
    if not missing:
        return []
    text = f"{count_tests(missing, 'critical test')} of the baseline missing: {name_tests(missing)}"
    return [Reason("block", "critical_missing", text, _ids(missing))]


def check_critical_measured(
    unmeasured: Sequence[ComparedTest], missing: Iterable[ComparedTest]
) -> list[Reason]:
    """A critical test without a verdict, however many `max_unmeasured` tolerates, unless it is missing."""
    told = set(_ids(missing))
    left = [test for test in unmeasured if test.nodeid not in told]
    if not left:
        return []
    text = f"{count_tests(left, 'critical test')} unmeasured: {name_tests(left)}; run it again"
    return [Reason("inconclusive", "critical_unmeasured", text, _ids(left))]


def check_pass_rate(rate: Rate, policy: Policy) -> list[Reason]:
    """The share of measured gating tests that pass, against the floor."""
    if rate.value is None or rate.value >= policy.min_pass_rate:
        return []
    text = f"pass rate {rate} is below min_pass_rate {policy.min_pass_rate:g}"
    return [Reason("block", "min_pass_rate", text)]


def check_measured(unmeasured: Sequence[ComparedTest], rate: Rate, policy: Policy) -> list[Reason]:
    """Outcomes that nobody could measure above the limit, and a run in which nothing was measured."""
    reasons = []
    if not rate.total:
        what = "every gating test went unmeasured" if unmeasured else "the candidate's run has no gating test"
        reasons.append(Reason("inconclusive", "empty_run", f"{what}; run it again"))
    if len(unmeasured) > policy.max_unmeasured:
        text = (
            f"{count_tests(unmeasured, 'unmeasured test')}, max_unmeasured is {policy.max_unmeasured}: "
            f"{name_tests(unmeasured)}"
        )
        reasons.append(Reason("inconclusive", "max_unmeasured", text, _ids(unmeasured)))
    return reasons


def check_repeats(candidate: Mapping[str, StatedCheck], policy: Policy) -> list[Reason]:
    """Gating tests with fewer repeats than required."""
    few = [
        nodeid
        for nodeid, check in candidate.items()
        if check.outcome.gating and check.rows < policy.repeats_required
    ]
    if not few:
        return []
    text = (
        f"{count_tests(few, 'test')} with fewer repeats than repeats_required, "
        f"{policy.repeats_required}: {_shorten(few)}; record the missing repeats"
    )
    return [Reason("inconclusive", "repeats_required", text, tuple(few))]


def check_judges(
    candidate: Outcomes, policy: Policy, calibration: Mapping[str, JudgeRecord] | None
) -> list[Reason]:
    """Stages that need a calibrated judge and have none, or only advise."""
    if not policy.require_calibrated_judge:
        return []
    patterns = NamePatterns(policy.require_calibrated_judge)
    stages = {stage.name: stage for stage in candidate.eval.stages}
    advisory = {test.check for test in candidate.tests if not test.gating}
    names = dict.fromkeys([*stages, *(test.check for test in candidate.tests)])
    reasons = []
    for name in filter(patterns.match_text, names):
        record = None if calibration is None else calibration.get(name)
        if record is not None:
            wanting = f"advisory: {record}" if not record.calibrated or name in advisory else None
        elif calibration is not None:
            wanting = "its judge is uncalibrated"
        elif name in advisory:
            wanting = "advisory, and the judge's record is not in the outcomes"
        else:
            # Nothing was said of the judge. A stage that waits for calibration and gates was calibrated.
            waits = name in stages and stages[name].gating == "when_calibrated"
            wanting = None if waits else "nothing says whether its judge is calibrated"
        if wanting:
            text = f"{name} needs a calibrated judge (require_calibrated_judge): {wanting}; calibrate it"
            reasons.append(Reason("inconclusive", "require_calibrated_judge", text))
    return reasons


def check_gating_lost(comparison: Comparison) -> list[Reason]:
    """Tests that gated in the baseline and only advise now: nothing watches them any more."""
    lost = comparison.gating_lost
    if not lost:
        return []
    checks = _shorten(list(dict.fromkeys(test.check for test in lost)))
    text = (
        f"{count_tests(lost, 'test')} gated in the baseline and only advise in the candidate "
        f"({checks}); calibrate the judge, or promote a baseline in which they advise"
    )
    return [Reason("inconclusive", "gating_lost", text, _ids(lost))]


def _shorten(names: Sequence[str]) -> str:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more


def _ids(tests: Iterable[ComparedTest]) -> tuple[str, ...]:
    return tuple(test.nodeid for test in tests)
