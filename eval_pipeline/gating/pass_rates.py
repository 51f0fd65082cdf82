"""Pass rates of a run: of all its gating checks, of whole cases, and check by check."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from eval_pipeline.gating.check_states import CheckState, Standing, StatedCheck
from eval_pipeline.gating.decision import RatePair
from eval_pipeline.statistics import Rate


def rate_of(states: Iterable[CheckState]) -> Rate:
    """Passes of what was measured: what nobody could measure is neither a pass nor a failure."""
    return _rate(Counter(state.standing for state in states))


def pass_rates(
    baseline: Mapping[str, StatedCheck] | None, candidate: Mapping[str, StatedCheck], ladder: list[str]
) -> tuple[RatePair, ...]:
    """Pass rates of all gating checks, of cases (every gating check passes), and of each check."""
    after = _Tally(candidate)
    before = None if baseline is None else _Tally(baseline)
    pairs = [
        RatePair("all checks", before.checks() if before else None, after.checks()),
        RatePair("cases", before.cases() if before else None, after.cases()),
    ]
    for name in ladder:
        pairs.append(RatePair(name, before.check(name) if before else None, after.check(name)))
    return tuple(pairs)


class _Tally:
    """Passes and failures of a run's gating checks, counted both ways once."""

    def __init__(self, stated: Mapping[str, StatedCheck]) -> None:
        self.by_check: dict[str, Counter[Standing]] = {}
        by_case: dict[str, frozenset[Standing]] = {}
        for check in stated.values():
            outcome, standing = check.outcome, check.state.standing
            if not outcome.gating:
                continue
            if outcome.check not in self.by_check:
                self.by_check[outcome.check] = Counter()
            self.by_check[outcome.check][standing] += 1
            if standing not in by_case.get(outcome.case, _NONE):
                by_case[outcome.case] = by_case.get(outcome.case, _NONE) | {standing}
        self.by_case = Counter(by_case.values())

    def checks(self) -> Rate:
        return _rate(sum(self.by_check.values(), Counter()))

    def check(self, name: str) -> Rate:
        return _rate(self.by_check.get(name, Counter()))

    def cases(self) -> Rate:
        passed = self.by_case[frozenset({"pass"})]
        return Rate(passed, passed + sum(n for standings, n in self.by_case.items() if "fail" in standings))


_NONE: frozenset[Standing] = frozenset()


def _rate(counts: Counter[Standing]) -> Rate:
    return Rate(counts["pass"], counts["pass"] + counts["fail"])
