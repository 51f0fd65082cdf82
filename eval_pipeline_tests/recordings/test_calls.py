"""A call's time is that of its last attempt."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from itertools import count
from typing import Any

import pytest

from eval_pipeline.errors import CallFailed
from eval_pipeline.model_settings import ModelSettings
from eval_pipeline.models.circuit import Circuit
from eval_pipeline.models.clock import Clock
from eval_pipeline.models.fault_log import FaultLog
from eval_pipeline.models.live_calls import LiveCalls
from eval_pipeline.models.pool import Pool
from eval_pipeline.recordings import calls
from eval_pipeline.recordings.calls import begin_attempt, make_call, make_call_sync


class ByHand:
    """A clock that moves when told to."""

    def __init__(self) -> None:
        self.s = 100.0

    def perf_counter(self) -> float:
        return self.s


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Iterator[ByHand]:
    by_hand = ByHand()
    monkeypatch.setattr(calls, "time", by_hand)
    return by_hand


def _times(*lives: Callable[[], Awaitable[dict[str, Any]]]) -> list[float]:
    """Milliseconds of calls that are made side by side."""

    async def all_of_them() -> list[float]:
        return [took for _, took in await asyncio.gather(*map(make_call, lives))]

    return asyncio.run(all_of_them())


def test_without_attempts_the_whole_call_counts(clock: ByHand) -> None:
    def live() -> dict[str, Any]:
        clock.s += 2
        return {"text": "yes"}

    assert make_call_sync(live) == ({"text": "yes"}, 2000.0)  # 2 s


def test_what_comes_before_the_last_attempt_does_not_count(clock: ByHand) -> None:
    def live() -> dict[str, Any]:
        clock.s += 30  # waits for a slot
        begin_attempt()
        clock.s += 4  # fails, and waits
        begin_attempt()
        clock.s += 0.5
        raise CallFailed("blocked", "a safety block")

    response, milliseconds = make_call_sync(live)
    assert milliseconds == 500.0  # the 0.5 s after the second beginning, of 34.5 s
    assert response["error"]["kind"] == "blocked"


def test_calls_side_by_side_each_have_their_own_time(clock: ByHand) -> None:
    first_began, second_ended = asyncio.Event(), asyncio.Event()

    async def first() -> dict[str, Any]:
        begin_attempt()
        first_began.set()
        await second_ended.wait()
        return {}

    async def second() -> dict[str, Any]:
        await first_began.wait()
        clock.s += 3
        begin_attempt()
        clock.s += 1
        second_ended.set()
        return {}

    # From 100 to 104 for the one, from 103 to 104 for the other.
    assert _times(first, second) == [4000.0, 1000.0]


def test_a_call_does_not_count_its_wait_for_a_slot(clock: ByHand) -> None:
    settings = ModelSettings(name="openai:any", max_concurrency=1)
    waits = Clock(now=lambda: 0.0)
    live_calls = LiveCalls(
        settings, Pool("openai:any", waits), Circuit("openai:any"), FaultLog("openai:any"), waits
    )
    numbers = count()

    async def answer() -> dict[str, Any]:
        clock.s += 2
        await asyncio.sleep(0)
        return {"number": next(numbers)}

    async def live() -> dict[str, Any]:
        return await live_calls.call(answer)

    # All three begin at 100; one at a time, each takes 2 s, and the last one ends at 106.
    assert _times(live, live, live) == [2000.0, 2000.0, 2000.0]
