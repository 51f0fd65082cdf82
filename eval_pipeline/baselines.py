"""Baselines: the accepted outcomes of a suite's datasets, each a reviewed file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from eval_pipeline.content_hash import content_hash
from eval_pipeline.errors import EvalError, InputError
from eval_pipeline.gate_files import NO_BASELINE, GateFiles
from eval_pipeline.gating.check_states import StatedCheck, state_checks
from eval_pipeline.gating.comparability import compare_components
from eval_pipeline.gating.comparison import compare_tests
from eval_pipeline.gating.decide import promote_command
from eval_pipeline.gating.decision import Change
from eval_pipeline.gating.outcome_files import read_outcomes
from eval_pipeline.gating.outcomes import Outcomes, OutcomesError
from eval_pipeline.gating.own_outcomes import outcomes_text
from eval_pipeline.gating.pass_rates import rate_of
from eval_pipeline.gating.policy import CasePasses, Policy
from eval_pipeline.gating.rules import describe_change
from eval_pipeline.statistics import Rate
from eval_pipeline.suites import Suite
from eval_pipeline.whole_files import replace_file

_SHOWN_TESTS = 5


def read_gate_baseline(suite: Suite, dataset_key: str, files: GateFiles) -> Outcomes | None:
    """The accepted outcomes for a dataset, found by its name; None when nobody has promoted any.

    Raises:
        OutcomesError: when the file cannot be used, or the one asked for does not exist.
    """
    if files.baseline == NO_BASELINE:
        return None
    path = files.baseline or suite.baseline_file(dataset_key)
    if not files.baseline and not path.exists():
        return None
    try:
        return read_outcomes(path)
    except OutcomesError as error:
        *others, last = error.problems
        raise OutcomesError([*others, f"{last}; {_remedy(suite, dataset_key, files)}"]) from error


def _remedy(suite: Suite, dataset_key: str, files: GateFiles) -> str:
    """What helps where a baseline cannot be used."""
    if files.baseline:
        return "restore the file, or give another baseline (`none`: gate without)"
    remedy = promote_command(suite.name, suite.datasets[dataset_key].name)
    return f"restore the file (git), or delete it and promote an accepted run: {remedy}"


def describe_baseline(suite: Suite, dataset_key: str, files: GateFiles) -> tuple[dict[str, str | int], str]:
    """What the baseline of a dataset holds, for people, and the hash of that.

    Raises:
        OutcomesError: when its file cannot be used.
    """
    path = files.baseline or suite.baseline_file(dataset_key)
    outcomes = read_gate_baseline(suite, dataset_key, files)
    if outcomes is None:
        name = suite.datasets[dataset_key].name
        remedy = promote_command(suite.name, name)
        return {"holds": f"nothing yet; promote an accepted run with: {remedy}", "file": str(path)}, "none"
    block = outcomes.eval
    states = [check.state for check in state_checks(outcomes, "all").values() if check.outcome.gating]
    shown: dict[str, str | int] = {
        "holds": f"{block.model or 'model not given'}, {block.prompt_version or 'prompt not given'}",
        "file": str(path),
        "dataset": block.dataset,
        "cases": len({test.case for test in outcomes.tests}),
        "gating tests": len(states),
        "passed": str(rate_of(states)),
        "unmeasured": sum(state.standing == "unmeasured" for state in states),
    }
    return shown, content_hash([block.model_dump(mode="json"), [list(test) for test in outcomes.tests]])


def baseline_problems(suite: Suite) -> list[str]:
    """What is wrong with the suite's baselines: files that cannot be read, and those of no dataset."""
    problems = []
    expected = {suite.baseline_file(key): key for key in suite.datasets}
    for path in sorted(suite.baselines.glob("*.json")):
        if path not in expected:
            problems.append(f"{path}: a baseline of no dataset; delete it, or name it after its dataset")
            continue
        try:
            read_outcomes(path)
        except InputError as error:
            problems += error.problems
    return problems


class UnmeasuredRunError(EvalError):
    """A run that cannot become a baseline, for tests of it have no verdict."""


@dataclass(frozen=True)
class Promotion:
    """What promoting a run changes in its dataset's baseline."""

    path: Path
    """The baseline file."""
    text: str
    """Its new content."""
    new: bool
    """Whether there was no baseline before."""
    changes: tuple[Change, ...]
    """Components that are others now, declared stages included."""
    tests: tuple[str, ...]
    """Gating tests that come to something else now, appear or disappear, each with its change."""
    rates: tuple[Rate | None, Rate]
    """Gating tests passed of measured, before and now."""
    unmeasured: int = 0
    """Gating tests without a verdict, in which no regression will show."""

    def write(self) -> None:
        """Write the baseline.

        Raises:
            EvalError: when the file cannot be written.
        """
        try:
            replace_file(self.path, self.text.encode())
        except OSError as failure:
            raise EvalError(f"{self.path}: cannot be written: {failure.strerror}") from failure


def plan_promotion(
    suite: Suite, dataset_key: str, outcomes: Outcomes, *, allow_unmeasured: bool = False
) -> Promotion:
    """What promoting a run would change; nothing is written yet.

    Raises:
        UnmeasuredRunError: when gating tests have no verdict, unless that is allowed; always when none has.
        OutcomesError: when the present baseline cannot be read.
    """
    rule: CasePasses = (suite.policy or Policy()).case_passes
    after = state_checks(outcomes, rule)
    unmeasured = _count_unmeasured(suite, after, allow_unmeasured)
    old = read_gate_baseline(suite, dataset_key, GateFiles())
    path, text, rate = suite.baseline_file(dataset_key), outcomes_text(outcomes), _rate(after)
    if old is None:
        return Promotion(path, text, True, (), (), (None, rate), unmeasured)
    before = state_checks(old, rule)
    moved = [
        f"{test.nodeid} {describe_change(test)}"
        for test in compare_tests(before, after).tests
        if test.baseline is None or test.candidate is None or test.baseline.label != test.candidate.label
    ]
    changes = compare_components(old, outcomes, Policy()).changes
    return Promotion(path, text, False, changes, tuple(moved), (_rate(before), rate), unmeasured)


def _count_unmeasured(suite: Suite, stated: dict[str, StatedCheck], allowed: bool) -> int:
    """Gating tests without a verdict; refused unless allowed, and when none has one."""
    gating = {nodeid: check.state for nodeid, check in stated.items() if check.outcome.gating}
    unmeasured = [nodeid for nodeid, state in gating.items() if state.standing == "unmeasured"]
    if not gating or len(unmeasured) == len(gating):
        raise UnmeasuredRunError(f"{suite.name}: no gating test of this run was measured; nothing to promote")
    if unmeasured and not allowed:
        more = f" and {len(unmeasured) - _SHOWN_TESTS} more" if len(unmeasured) > _SHOWN_TESTS else ""
        raise UnmeasuredRunError(
            f"{suite.name}: {len(unmeasured)} of {len(gating)} gating tests were not measured "
            f"({', '.join(unmeasured[:_SHOWN_TESTS])}{more}), so no regression would show there; "
            "measure them, or promote with --allow-unmeasured"
        )
    return len(unmeasured)


def _rate(stated: dict[str, StatedCheck]) -> Rate:
    return rate_of(check.state for check in stated.values() if check.outcome.gating)
