"""Two runs side by side, check by check: what regressed, what is fixed, missing and new."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from eval_pipeline.gating.check_states import StatedCheck
from eval_pipeline.gating.decision import ComparedTest


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
        named, old = before.outcome, before.state
        if not named.gating:
            continue
        after = candidate.get(nodeid)
        new_state = after.state if after is not None and after.outcome.gating else None
        test = ComparedTest(nodeid, named.case, named.check, old, new_state)
        tests.append(test)
        if new_state is None and after is not None:
            lost.append(test)
        elif new_state is None or new_state.skipped:
            missing.append(test)
            if old.standing == "pass":
                regressed.append(test)
        elif old.standing == "pass" and new_state.standing == "fail":
            regressed.append(test)
        elif old.standing == "fail" and new_state.standing == "pass":
            fixed.append(test)
    for nodeid, check in candidate.items():
        known = baseline.get(nodeid)
        if check.outcome.gating and (known is None or not known.outcome.gating):
            new.append(_unpaired(check))
    tests += new
    return Comparison(tuple(tests), tuple(regressed), tuple(fixed), tuple(missing), tuple(new), tuple(lost))


def list_tests(candidate: Mapping[str, StatedCheck]) -> tuple[ComparedTest, ...]:
    """The candidate's gating checks alone, where there is nothing to compare them with."""
    return tuple(_unpaired(check) for check in candidate.values() if check.outcome.gating)


def _unpaired(check: StatedCheck) -> ComparedTest:
    return ComparedTest(check.outcome.nodeid, check.outcome.case, check.outcome.check, None, check.state)
