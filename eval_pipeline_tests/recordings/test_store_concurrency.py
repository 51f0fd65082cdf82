"""Identical questions at once, from tasks, threads and event loops, are one call."""

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest

from eval_pipeline.errors import (
    CallFailed,
    ProviderFault,
)
from eval_pipeline.recordings import read_entries, scope
from eval_pipeline_tests.recordings.questions import (
    Model,
    Slow,
    ask,
    asked_by,
    in_scope,
    question,
    recording,
)


def test_identical_questions_at_once_make_one_call_that_counts_for_one(tmp_path: Path):
    async def run() -> tuple[list, int]:
        store, live = recording(tmp_path), Slow()
        tasks = [
            asyncio.create_task(asked_by(store, f"case-{n}", question("Where?"), live)) for n in range(20)
        ]
        await live.started.wait()
        live.release.set()
        return await asyncio.gather(*tasks), live.calls

    answers, calls = asyncio.run(run())
    assert calls == 1
    assert [answer for answer, *_ in answers] == [{"text": "answer 1"}] * 20
    assert [counted for _, *counted in answers] == [[1, 1]] + [[1, 0]] * 19


def test_all_the_cases_that_waited_are_listed(tmp_path: Path):
    async def run() -> None:
        store = recording(tmp_path)
        await asyncio.gather(*(asked_by(store, case, question("Where?"), Model()) for case in "cab"))
        store.close()

    asyncio.run(run())
    (entry,) = read_entries(tmp_path)
    assert entry.cases == ("a", "b", "c")


@pytest.mark.parametrize("fault", [ProviderFault("timeout", "30 s"), CallFailed("blocked", "unsafe")])
def test_a_fault_or_failure_is_raised_for_all_who_wait(tmp_path: Path, fault: Exception):
    async def run() -> tuple[list, int]:
        store, live = recording(tmp_path), Slow(fault)
        tasks = [
            asyncio.create_task(asked_by(store, f"case-{n}", question("Where?"), live)) for n in range(3)
        ]
        await live.started.wait()
        live.release.set()
        return await asyncio.gather(*tasks, return_exceptions=True), live.calls

    raised, calls = asyncio.run(run())
    assert calls == 1
    assert [str(error) for error in raised] == [str(fault)] * 3
    assert {type(error) for error in raised} == {type(fault)}


def test_when_the_caller_is_cancelled_one_who_waits_takes_over(tmp_path: Path):
    async def run() -> tuple[list, int]:
        store, live = recording(tmp_path), Slow()
        tasks = [
            asyncio.create_task(asked_by(store, f"case-{n}", question("Where?"), live)) for n in range(4)
        ]
        await live.started.wait()
        tasks[0].cancel()
        await asyncio.sleep(0)
        live.release.set()
        return await asyncio.gather(*tasks, return_exceptions=True), live.calls

    (cancelled, *others), calls = asyncio.run(run())
    assert isinstance(cancelled, asyncio.CancelledError)
    assert calls == 2
    assert [answer for answer, *_ in others] == [{"text": "answer 2"}] * 3
    assert sum(called for *_, called in others) == 1


def test_when_one_who_waits_is_cancelled_the_call_goes_on(tmp_path: Path):
    async def run() -> tuple[list, int]:
        store, live = recording(tmp_path), Slow()
        tasks = [
            asyncio.create_task(asked_by(store, f"case-{n}", question("Where?"), live)) for n in range(3)
        ]
        await live.started.wait()
        tasks[1].cancel()
        await asyncio.sleep(0)
        live.release.set()
        return await asyncio.gather(*tasks, return_exceptions=True), live.calls

    (first, cancelled, last), calls = asyncio.run(run())
    assert isinstance(cancelled, asyncio.CancelledError)
    assert (first[0], last[0], calls) == ({"text": "answer 1"}, {"text": "answer 1"}, 1)


def test_identical_questions_of_one_run_at_once_are_several_calls(tmp_path: Path):
    async def run() -> tuple[list[str], int]:
        store, live = recording(tmp_path), Model()
        with scope("case-1"):
            answers = await asyncio.gather(*(store.ask(question("Where?"), live) for _ in range(3)))
        return sorted(answer["text"] for answer in answers), live.calls

    assert asyncio.run(run()) == (["answer 1", "answer 2", "answer 3"], 3)


def test_threads_that_ask_the_same_at_once_make_one_call(tmp_path: Path):
    store, together, calls = recording(tmp_path), threading.Barrier(8), []

    def live() -> dict[str, Any]:
        calls.append(1)
        together.wait()  # all have asked, or are about to, when the answer comes
        return {"text": "here"}

    def run() -> None:
        with scope("case-1"):
            if threading.current_thread() is not threads[0]:
                together.wait()
            answers.append(store.ask_sync(question("Where?"), live))

    answers: list[dict] = []
    threads = [threading.Thread(target=run) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(calls) == 1
    assert answers == [{"text": "here"}] * 8


def test_code_that_can_not_wait_for_a_call_of_its_own_loop_makes_another(tmp_path: Path):
    async def run() -> tuple[dict, dict]:
        store, slow = recording(tmp_path), Slow()
        waiting = asyncio.create_task(asked_by(store, "case-1", question("Where?"), slow))
        await slow.started.wait()
        now = in_scope(lambda: store.ask_sync(question("Where?"), Model({"text": "at once"}).sync), "case-2")
        slow.release.set()
        return now, (await waiting)[0]

    assert asyncio.run(run()) == ({"text": "at once"}, {"text": "at once"})


def test_a_store_outlives_its_event_loop(tmp_path: Path):
    store, live = recording(tmp_path), Model()
    ask(store, question("Where?"), live)
    ask(store, question("When?"), live)
    assert live.calls == 2
