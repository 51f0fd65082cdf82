"""Calls in flight and retries, as the code that makes live calls sees them."""

from __future__ import annotations

import asyncio
import itertools
import math
import threading

import pytest

from eval_pipeline.errors import ProviderFault
from eval_pipeline.event_loop import run_async
from eval_pipeline.model_settings import ModelSettings
from eval_pipeline.models.run_calls import Pools, RunCalls
from eval_pipeline_tests.models.live_models import SETTINGS, run_calls
from eval_pipeline_tests.provider_replies import Say, Status


class Refused(Exception):
    status_code = 429


class Server:
    """Answers calls when told to, and knows how many wait for that."""

    def __init__(self) -> None:
        self.asked = 0
        self.waiting: list[asyncio.Future[str]] = []

    async def __call__(self) -> str:
        self.asked += 1
        answer = asyncio.get_running_loop().create_future()
        self.waiting.append(answer)
        return await answer


async def settle() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


def test_no_more_calls_are_in_flight_than_allowed_whoever_makes_them():
    async def work():
        calls, _ = run_calls()
        server = Server()
        made = [asyncio.ensure_future(calls.of(SETTINGS).call(server)) for _ in range(5)]
        seen = []
        while len(seen) < 5:
            await settle()
            seen.append(server.asked - len(seen))
            server.waiting.pop(0).set_result("ok")
        assert await asyncio.gather(*made) == ["ok"] * 5
        return seen

    assert run_async(work()) == [2, 2, 2, 2, 1]


def test_other_addresses_and_models_have_pools_of_their_own():
    pools = Pools()
    same = ModelSettings(name="openai:m", max_concurrency=5, settings={"seed": 1})
    assert pools.of(SETTINGS) is pools.of(same)
    assert pools.of(SETTINGS) is not pools.of(ModelSettings(name="openai:n"))
    assert pools.of(SETTINGS) is not pools.of(ModelSettings(name="openai:m", base_url="http://host"))


def test_runs_share_the_pools_of_the_process():
    assert RunCalls()._pools is RunCalls()._pools


def test_who_waits_for_the_next_attempt_lets_others_go_on():
    async def work():
        gate = asyncio.Event()
        calls, time = run_calls()
        order = []

        async def pause(seconds):
            await gate.wait()

        calls._clock = type(time.clock)(time.clock.now, pause)
        one = ModelSettings(name="openai:m", max_concurrency=1)

        async def failing():
            order.append("first")
            if order.count("first") == 1:
                raise ConnectionResetError("dropped")
            return "first"

        async def other():
            order.append("other")
            return "other"

        first = asyncio.ensure_future(calls.of(one).call(failing))
        await settle()
        assert await calls.of(one).call(other) == "other"
        gate.set()
        return await first, order

    assert run_async(work()) == ("first", ["first", "other", "first"])


def test_a_repeated_attempt_goes_before_calls_that_have_not_begun():
    async def work():
        calls, _ = run_calls()
        one = calls.of(ModelSettings(name="openai:m", max_concurrency=1))
        order = []

        async def ask(name):
            order.append(name)
            if order == ["a"]:
                raise ConnectionResetError("dropped")
            await settle()

        await asyncio.gather(*(one.call(lambda name=name: ask(name)) for name in "abcd"))
        return order

    # While a waits b goes on; then a is next, though c and d have waited longer.
    assert run_async(work()) == ["a", "b", "a", "c", "d"]


def test_a_refusal_that_names_a_time_holds_everybody_back_until_then():
    async def work():
        calls, time = run_calls()
        began = []

        async def ask():
            began.append(time.time)
            first = len(began) == 1
            await settle()  # until the second is in flight too
            if first:
                refusal = Refused()
                refusal.response = type("Response", (), {"headers": {"retry-after": "30"}})()
                raise refusal

        await asyncio.gather(*(calls.of(SETTINGS).call(ask) for _ in range(6)))
        return began

    first, second, *later = run_async(work())
    assert (first, second) == (0, 0)  # both were in flight when one was refused
    assert all(time >= 30 for time in later)
    assert len(later) == 5  # the refused one, again, and the four that waited


def test_a_cancelled_call_gives_its_slot_back():
    async def work():
        calls, _ = run_calls()
        server = Server()
        made = [asyncio.ensure_future(calls.of(SETTINGS).call(server)) for _ in range(4)]
        await settle()
        made[0].cancel()  # in flight
        made[2].cancel()  # waiting for a slot
        await settle()
        pool = calls.of(SETTINGS)._pool
        assert (server.asked, pool.in_flight) == (3, 2)
        for answer in server.waiting[1:]:
            answer.set_result("ok")
        assert await asyncio.gather(made[1], made[3]) == ["ok", "ok"]
        return pool.in_flight

    assert run_async(work()) == 0


def test_threads_wait_for_each_other_too():
    calls, _ = run_calls()
    one = calls.of(ModelSettings(name="openai:m", max_concurrency=1))
    in_flight, most = [0], []

    def ask():
        in_flight[0] += 1
        most.append(in_flight[0])
        threading.Event().wait(0.01)
        in_flight[0] -= 1

    threads = [threading.Thread(target=one.call_sync, args=(ask,)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [1, 1, 1, 1]


def test_code_that_blocks_the_loop_does_not_wait_for_calls_of_the_loop():
    async def work():
        calls, _ = run_calls()
        one = calls.of(ModelSettings(name="openai:m", max_concurrency=1))
        server = Server()
        awaited = asyncio.ensure_future(one.call(server))
        await settle()
        assert one.call_sync(lambda: "at once") == "at once"
        server.waiting[0].set_result("later")
        return await awaited

    assert run_async(work()) == "later"


def test_one_call_is_timed_as_a_whole():
    async def work():
        calls, _ = run_calls()
        settings = ModelSettings(name="openai:m", timeout_s=0.01)
        await calls.of(settings).call(lambda: asyncio.sleep(60))

    with pytest.raises(ProviderFault, match=r"timeout: openai:m: no answer within 0.01 s"):
        run_async(work())


@pytest.mark.parametrize("waits", [True, False])
def test_what_the_caller_was_handling_is_no_cause_of_a_failed_call(waits):
    """An agent, or DeepEval, may ask a model inside an `except` block: Python chains that to what follows."""

    def fail():
        raise RuntimeError("bug")

    async def fail_later():
        fail()

    async def work():
        calls = run_calls()[0].of(SETTINGS)
        try:
            raise TimeoutError("of a tool")
        except TimeoutError:
            await calls.call(fail_later) if waits else calls.call_sync(fail)

    with pytest.raises(ProviderFault) as caught:
        run_async(work())
    assert caught.value.kind == "client_error"  # taken for a timeout, it would be tried five times
    assert caught.value.message.startswith("openai:m: RuntimeError: bug; ")


def test_a_provider_that_bears_few_calls_answers_all_of_them_and_then_gets_more_again(live):
    live.stub.latency_s = 0.01
    bears = [3]
    live.stub.answer = lambda asked: Status(429) if live.stub.in_flight > bears[0] else Say("ok")
    questions = itertools.count()

    async def work(models):
        model = models.chat()
        await asyncio.gather(*(model.ainvoke(f"Question {next(questions)}") for _ in range(40)))
        return models.calls.of(models.chat_settings)._pool.limit.places

    live.run(work, max_concurrency=8)
    assert live.stub.calls > 40  # some were refused and asked again
    bears[0] = 100
    # The limit is 2 at least and grows after 10 answers at the latest: to 3, to 7, and to 23 of 8.
    assert live.run(work, max_concurrency=8) == math.inf
