"""What a check of a case comes to over its repeats, so that two runs can be compared check by check."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, NamedTuple

from eval_pipeline.errors import ErrorSource
from eval_pipeline.gating.outcomes import CheckOutcome, GateOutcome, Outcomes
from eval_pipeline.gating.policy import CasePasses

Standing = Literal["pass", "fail", "unmeasured"]
_Result = tuple[GateOutcome, ErrorSource | None]


@dataclass(frozen=True, slots=True)
class CheckState:
    """One check of one case in one run, all repeats together."""

    standing: Standing
    label: str
    """In words: the outcome, with an error's source, and passes of repeats where there are several."""
    passes: int
    repeats: int
    skipped: bool = False
    """Someone took it out of the run: for a comparison it is missing, not merely unmeasured."""
    errored: bool = False
    """Whether any repeat ended in an error."""

    @property
    def flips(self) -> bool:
        """Whether its repeats disagree."""
        return 0 < self.passes < self.repeats


class StatedCheck(NamedTuple):
    """A check of a case with its state; a tuple, for there may be a hundred thousand."""

    outcome: CheckOutcome
    """Its first repeat, for names and flags."""
    state: CheckState
    rows: int
    """Repeats that the run really has of it, however often a judge scored each."""


def standing_of(outcome: GateOutcome, source: ErrorSource | None) -> Standing:
    """What one outcome is worth to a gate.

    An error by the system's fault is a failure, and so is an expected failure (xfailed): it did fail.
    Any other error, also one whose source nobody named, and whatever was skipped is unmeasured;
    so is a pass where a failure was announced (xpassed), until its mark is removed.
    """
    if outcome == "passed":
        return "pass"
    if outcome in ("failed", "xfailed") or (outcome == "error" and source == "system"):
        return "fail"
    return "unmeasured"


def state_checks(outcomes: Outcomes, rule: CasePasses) -> dict[str, StatedCheck]:
    """The state of every check of a run by node id, in the order of the file.

    Repeats that the run declares but does not have count as unmeasured ones, so that leaving one out
    never helps.
    """
    declared, tests = outcomes.eval.repeats, outcomes.tests
    results = {(test.outcome, test.error_source) for test in tests}
    states = {result: _state_of((result,), declared - 1, rule) for result in results}
    stated = {t.nodeid: StatedCheck(t, states[t.outcome, t.error_source], 1) for t in tests}
    if len(stated) == len(tests):
        return stated
    repeated: dict[str, list[CheckOutcome]] = {nodeid: [] for nodeid in stated}
    for test in tests:
        repeated[test.nodeid].append(test)
    return {nodeid: _state_repeats(same, declared, rule) for nodeid, same in repeated.items()}


def _state_repeats(tests: Sequence[CheckOutcome], declared: int, rule: CasePasses) -> StatedCheck:
    results = tuple([(test.outcome, test.error_source) for test in tests])
    repeats = len({test.repeat for test in tests})
    lacking = max(declared - repeats, 0) * (len(tests) // repeats)  # a judge scores each as often
    return StatedCheck(tests[0], _state_of(results, lacking, rule), repeats)


@lru_cache(maxsize=4096)
def _state_of(results: tuple[_Result, ...], lacking: int, rule: CasePasses) -> CheckState:
    """The state of one check from its results and those it lacks; cached, for few ever occur."""
    repeats = len(results) + lacking
    standings = Counter(standing_of(outcome, source) for outcome, source in results)
    passes = standings["pass"]
    if repeats == 1:
        label = _label(*results[0])
    else:
        others = Counter(_label(*result) for result in results if result[0] != "passed")
        if lacking:
            others["no result"] = lacking
        counted = [f"{name} {count}" for name, count in sorted(others.items())]
        label = ", ".join([f"passed {passes}/{repeats}", *counted])
    return CheckState(
        standing=pass_by_rule(passes, standings["fail"], repeats, rule),
        label=label,
        passes=passes,
        repeats=repeats,
        skipped=all(outcome == "skipped" for outcome, _ in results),
        errored=any(outcome == "error" for outcome, _ in results),
    )


def pass_by_rule(passes: int, fails: int, repeats: int, rule: CasePasses) -> Standing:
    """What repeats come to: `all` must pass, or a `majority`, which is more than half of them.

    It fails as soon as what is unmeasured could no longer make it pass, and is unmeasured in between.
    """
    if rule == "all":
        return "fail" if fails else "pass" if passes == repeats else "unmeasured"
    if 2 * passes > repeats:
        return "pass"
    return "fail" if 2 * (repeats - fails) <= repeats else "unmeasured"


def _label(outcome: GateOutcome, source: ErrorSource | None) -> str:
    if outcome == "error":
        return f"error ({source or 'source not named'})"
    return outcome.replace("_", " ")
