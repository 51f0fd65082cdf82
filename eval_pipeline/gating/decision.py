"""A gate decision: the verdict, every reason for it, and what a reviewer looks at besides."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

from eval_pipeline.gating.check_states import CheckState
from eval_pipeline.gating.outcomes import EvalBlock, JudgeRecord, RunUsage
from eval_pipeline.statistics import Rate, mcnemar_exact

Verdict = Literal["pass", "block", "incomparable", "inconclusive"]
PRECEDENCE: tuple[Verdict, ...] = ("incomparable", "block", "inconclusive")
"""Of several broken rules, the first of these is the verdict."""
EXIT_CODES: dict[Verdict, int] = {"pass": 0, "block": 1, "incomparable": 2, "inconclusive": 3}

Rule = Literal[
    "baseline",
    "comparable",
    "max_regressions",
    "protected_cases",
    "critical",
    "critical_missing",
    "critical_unmeasured",
    "min_pass_rate",
    "max_unmeasured",
    "empty_run",
    "repeats_required",
    "require_calibrated_judge",
    "gating_lost",
]
Effect = Literal["incomparable", "released", "noted"]


@dataclass(frozen=True)
class Reason:
    """One broken rule, with the verdict it calls for."""

    verdict: Verdict
    rule: Rule
    text: str
    tests: tuple[str, ...] = ()
    """Node ids it is about."""


@dataclass(frozen=True)
class Change:
    """One component in which the candidate differs from the baseline."""

    component: str
    baseline: str
    candidate: str
    effect: Effect
    """`released` by the policy's may_change, `noted` where it may always differ."""


class ComparedTest(NamedTuple):
    """One check of one case on both sides; a tuple, for there may be a hundred thousand.

    A side is None where it does not have the check, or where the check does not gate.
    """

    nodeid: str
    case: str
    check: str
    baseline: CheckState | None
    candidate: CheckState | None


@dataclass(frozen=True)
class RatePair:
    """Pass rates of one check, of all checks or of whole cases; None where there is no baseline."""

    name: str
    baseline: Rate | None
    candidate: Rate


@dataclass(frozen=True)
class Shift:
    """A case whose first failing stage is another one now; None where no stage fails."""

    case: str
    baseline: str | None
    candidate: str | None


@dataclass(frozen=True)
class AdvisoryStage:
    """A stage of the candidate that does not gate, with its judge's record where there is one."""

    check: str
    rate: Rate
    record: JudgeRecord | None


@dataclass(frozen=True)
class GateDecision:
    """What the gate says of a candidate, and why."""

    verdict: Verdict
    reasons: tuple[Reason, ...]
    """Every broken rule, those that decide first."""
    baseline: EvalBlock | None
    candidate: EvalBlock
    changes: tuple[Change, ...] = ()
    notes: tuple[str, ...] = ()
    """What was not compared, and what a reader should know."""
    rates: tuple[RatePair, ...] = ()
    """All checks first, whole cases second, then check by check."""
    tests: tuple[ComparedTest, ...] = ()
    """Every gating test of either side; of the candidate's alone when the sides were not compared."""
    compared: bool = True
    """Whether tests were compared one by one; where sides are incomparable that would mislead."""
    regressed: tuple[ComparedTest, ...] = ()
    """Passed in the baseline, and now fails or is missing."""
    fixed: tuple[ComparedTest, ...] = ()
    """Failed in the baseline, and now passes."""
    critical_failures: tuple[ComparedTest, ...] = ()
    missing: tuple[ComparedTest, ...] = ()
    """In the baseline, and not (or skipped) in the candidate."""
    new: tuple[ComparedTest, ...] = ()
    errors: tuple[ComparedTest, ...] = ()
    """The candidate's tests in which any repeat ended in an error, whoever's fault it was."""
    unmeasured: tuple[ComparedTest, ...] = ()
    """The candidate's tests without a verdict."""
    flaky: tuple[ComparedTest, ...] = ()
    """The candidate's tests whose repeats disagree."""
    shifts: tuple[Shift, ...] = ()
    advisory: tuple[AdvisoryStage, ...] = ()
    baseline_usage: RunUsage | None = None
    candidate_usage: RunUsage | None = None
    digests: tuple[str | None, str | None] = (None, None)
    """Of imported reports, baseline's and candidate's."""

    @property
    def exit_code(self) -> int:
        """0 pass, 1 block, 2 incomparable, 3 inconclusive."""
        return EXIT_CODES[self.verdict]

    @property
    def odds(self) -> str:
        """Whether what moved could be chance, in words, with the exact McNemar p-value."""
        worse = sum(1 for test in self.regressed if test.candidate and test.candidate.standing == "fail")
        better = len(self.fixed)
        if not worse + better:
            return "no test measured on both sides changed its verdict"
        p = mcnemar_exact(worse, better)
        words = "could be chance" if p >= 0.05 else "unlikely to be chance"
        paired = sum(1 for test in self.tests if _measured(test.baseline) and _measured(test.candidate))
        return f"{worse} worse, {better} better of {paired} measured on both sides: {words} (p = {p:.2g})"


def _measured(state: CheckState | None) -> bool:
    return state is not None and state.standing != "unmeasured"
