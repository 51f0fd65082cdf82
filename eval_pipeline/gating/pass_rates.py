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
        gating = [(c.outcome, c.state.standing) for c in stated.values() if c.outcome.gating]
        self.by_check = Counter([(outcome.check, standing) for outcome, standing in gating])
        cases = {outcome.case for outcome, _ in gating}
        unsure = [(outcome.case, standing) for outcome, standing in gating if standing != "pass"]
        self.failed = {case for case, standing in unsure if standing == "fail"}
        self.passed = cases - {case for case, _ in unsure}

    def checks(self) -> Rate:
        counts: Counter[Standing] = Counter()
        for (_, standing), count in self.by_check.items():
            counts[standing] += count
        return _rate(counts)

    def check(self, name: str) -> Rate:
        return _rate({standing: self.by_check[name, standing] for standing in ("pass", "fail")})

    def cases(self) -> Rate:
        return Rate(len(self.passed), len(self.passed) + len(self.failed))


def _rate(counts: Mapping[Standing, int]) -> Rate:
    passes, fails = counts.get("pass", 0), counts.get("fail", 0)
    return Rate(passes, passes + fails)
