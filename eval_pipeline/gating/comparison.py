"""Two runs side by side, check by check: what regressed, what is fixed, missing and new."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from eval_pipeline.gating.check_states import StatedCheck
from eval_pipeline.gating.decision import ComparedTest
from eval_pipeline.gating.outcomes import CheckOutcome


@dataclass(frozen=True)
class Comparison:
    """The gating checks of two runs, paired by node id."""

    tests: tuple[ComparedTest, ...]
    regressed: tuple[ComparedTest, ...]
    fixed: tuple[ComparedTest, ...]
    missing: tuple[ComparedTest, ...]
    new: tuple[ComparedTest, ...]
    gating_lost: tuple[ComparedTest, ...]
    """Gated in the baseline, and only advise in the candidate."""


def compare_tests(baseline: Mapping[str, StatedCheck], candidate: Mapping[str, StatedCheck]) -> Comparison:
    """Pair the gating checks of two runs.

    A check that the baseline passed and the candidate fails, lacks or skips has regressed. One that
    gates on one side only is not compared: it is new where it begins to gate, lost where it ends.
    """
    tests, regressed, fixed, missing, new, lost = [], [], [], [], [], []
    for nodeid, before in baseline.items():
        if not before.outcome.gating:
            continue
        after = candidate.get(nodeid)
        gates = after is not None and after.outcome.gating
        test = _pair(before.outcome, before, after if gates else None)
        tests.append(test)
        if after is not None and not gates:
            lost.append(test)
            continue
        gone = after is None or after.state.skipped
        if gone:
            missing.append(test)
        standing = after.state.standing if after is not None else "unmeasured"
        if before.state.standing == "pass" and (gone or standing == "fail"):
            regressed.append(test)
        elif before.state.standing == "fail" and standing == "pass":
            fixed.append(test)
    for nodeid, after in candidate.items():
        known = baseline.get(nodeid)
        if after.outcome.gating and (known is None or not known.outcome.gating):
            test = _pair(after.outcome, None, after)
            tests.append(test)
            new.append(test)
    return Comparison(tuple(tests), tuple(regressed), tuple(fixed), tuple(missing), tuple(new), tuple(lost))


def list_tests(candidate: Mapping[str, StatedCheck]) -> tuple[ComparedTest, ...]:
    """The candidate's gating checks alone, where there is nothing to compare them with."""
    return tuple(_pair(check.outcome, None, check) for check in candidate.values() if check.outcome.gating)


def _pair(named: CheckOutcome, before: StatedCheck | None, after: StatedCheck | None) -> ComparedTest:
    return ComparedTest(
        named.nodeid,
        named.case,
        named.check,
        before.state if before is not None else None,
        after.state if after is not None else None,
    )
