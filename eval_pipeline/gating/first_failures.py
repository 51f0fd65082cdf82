"""The first failing stage of each case, and where it is another one now."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from eval_pipeline.gating.check_states import StatedCheck
from eval_pipeline.gating.decision import Shift
from eval_pipeline.gating.outcomes import EvalBlock


def order_stages(blocks: Iterable[EvalBlock], *runs: Mapping[str, StatedCheck]) -> list[str]:
    """Names of the gating checks, in declared order; undeclared ones follow as they first appear."""
    seen = dict.fromkeys(
        check.outcome.check for run in runs for check in run.values() if check.outcome.gating
    )
    declared = dict.fromkeys(stage.name for block in blocks for stage in block.stages)
    return [name for name in declared if name in seen] + [name for name in seen if name not in declared]


def find_shifts(
    baseline: Mapping[str, StatedCheck], candidate: Mapping[str, StatedCheck], ladder: list[str]
) -> tuple[Shift, ...]:
    """Cases of both runs whose first failing stage is another one now, in the baseline's order."""
    rank = {name: place for place, name in enumerate(ladder)}
    before, after = _first_failures(baseline, rank), _first_failures(candidate, rank)
    return tuple(
        Shift(case, before[case], after[case])
        for case in before
        if case in after and before[case] != after[case]
    )


def _first_failures(stated: Mapping[str, StatedCheck], rank: Mapping[str, int]) -> dict[str, str | None]:
    """The first stage of each case that failed or erred; an error is named as one."""
    places: dict[str, int] = {}
    labels: dict[str, str | None] = {}
    for check in stated.values():
        outcome, state = check.outcome, check.state
        if not outcome.gating:
            continue
        case = outcome.case
        labels.setdefault(case, None)
        if state.standing == "pass":
            continue
        stops = state.standing == "fail" or state.errored
        if stops and rank[outcome.check] < places.get(case, len(rank)):
            places[case] = rank[outcome.check]
            labels[case] = f"{outcome.check}: {state.label}" if state.errored else outcome.check
    return labels
