"""How many calls a provider bears, found from those that it refuses."""

from __future__ import annotations

import math

from eval_pipeline.models.concurrency_limit import ConcurrencyLimit

MOST = 50


class Provider:
    """Bears `bears` calls at once; takes calls in rounds of as many as the limit lets through."""

    def __init__(self, bears: int) -> None:
        self.limit = ConcurrencyLimit()
        self.bears = bears
        self.started = 0
        self.refused = 0

    def round(self) -> int:
        """As many calls as may be in flight; how many that were."""
        calls = int(min(self.limit.places, MOST))
        first, in_flight = self.started, calls
        self.started += calls
        for number in range(first + self.bears, first + calls):
            self.limit.refused(number, in_flight=in_flight, started=self.started)
            self.refused += 1
            in_flight -= 1
        for number in range(first, first + min(calls, self.bears)):
            self.limit.answered(number, most=MOST)
        return calls


def test_without_a_refusal_there_is_no_limit():
    provider = Provider(bears=100)
    assert [provider.round() for _ in range(3)] == [50, 50, 50]
    assert provider.limit.places == math.inf


def test_every_refused_call_takes_its_place_away():
    provider = Provider(bears=20)
    assert provider.round() == 50
    assert provider.limit.places == 20  # 50 − 30 refused


def test_places_come_back_ever_faster_once_nothing_is_refused():
    provider = Provider(bears=0)
    provider.round()
    provider.bears = 100
    # A burst leaves a quarter: 50 / 4 = 12. Then 12 + 1, + 4, + 16, and + 64 is more than 50.
    assert [provider.round() for _ in range(5)] == [12, 13, 17, 33, 50]
    assert provider.limit.places == math.inf


def test_a_provider_that_bears_twenty_is_hardly_ever_asked_for_more():
    provider = Provider(bears=20)
    calls = sum(provider.round() for _ in range(101))
    # The first round: 50 calls, 30 refused. Then in turn 20 calls, and 21 with one refused: 50 × 41 calls.
    assert (calls, provider.refused) == (50 + 50 * 41, 30 + 50)


def test_while_nothing_is_answered_one_burst_goes_on():
    provider = Provider(bears=0)
    assert [provider.round() for _ in range(3)] == [50, 12, 12]  # and not 3, then 1


def test_a_provider_that_bears_one_call_is_asked_for_two_in_vain_ever_more_rarely():
    provider = Provider(bears=1)
    rounds = [provider.round() for _ in range(100)]
    assert rounds[:4] == [50, 12, 3, 1]
    # Between two refusals 1, 2, 4, 8, then always 10 calls are answered: of 97 rounds, 12 are of two calls.
    assert rounds[3:].count(2) in (9, 10, 11, 12)


def test_an_old_call_that_is_answered_proves_nothing():
    limit = ConcurrencyLimit()
    assert limit.refused(3, in_flight=4, started=4) is True
    assert limit.places == 3
    for number in range(3):  # in flight together with the refused one
        assert limit.answered(number, most=8) is False
    assert limit.places == 3
    for number in range(4, 7):
        limit.answered(number, most=8)
    assert limit.places == 4
