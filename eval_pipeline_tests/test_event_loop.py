"""One loop for the process, and a Ctrl-C that is never lost."""

from __future__ import annotations

import asyncio
import signal

import pytest

from eval_pipeline.event_loop import gather_in_turn, run_async
from eval_pipeline.recordings import current_scope, scope


async def loop_id():
    return id(asyncio.get_running_loop())


def test_every_run_shares_one_loop():
    assert run_async(loop_id()) == run_async(loop_id())


def test_each_run_sees_the_context_variables_of_its_caller():
    async def case_id():
        return current_scope().case_id

    for name in ("first", "second"):
        with scope(name):
            assert run_async(case_id()) == name


def test_ctrl_c_cancels_what_is_waiting():
    async def waits():
        signal.raise_signal(signal.SIGINT)
        await asyncio.sleep(60)

    with pytest.raises(KeyboardInterrupt):
        run_async(waits())


@pytest.mark.parametrize("ending", ["returns", "raises"])
def test_ctrl_c_is_not_lost_when_the_work_ends_in_the_same_step(ending):
    async def ends():
        signal.raise_signal(signal.SIGINT)
        if ending == "raises":
            raise ValueError("in the same step")

    with pytest.raises(KeyboardInterrupt):
        run_async(ends())


def test_the_handler_before_is_back_afterwards():
    before = signal.getsignal(signal.SIGINT)
    run_async(loop_id())
    assert signal.getsignal(signal.SIGINT) is before


def test_what_a_failed_run_had_started_does_not_go_on_in_the_next():
    ran = []

    async def late():
        await asyncio.sleep(0.05)
        ran.append(1)

    async def fails():
        background.append(asyncio.create_task(late()))
        raise ValueError("failed")

    background: list[asyncio.Task] = []
    with pytest.raises(ValueError, match="failed"):
        run_async(fails())
    run_async(asyncio.sleep(0.1))
    assert ran == []


def test_what_is_gathered_in_turn_begins_one_by_one_and_keeps_its_order():
    log: list[str] = []

    async def work(name: str) -> str:
        for step in (0, 1):
            log.append(f"{name}{step}")
            await asyncio.sleep(0)
        return name

    assert run_async(gather_in_turn(work(name) for name in "abc")) == ["a", "b", "c"]
    # The first is a step ahead of the second, and so on; by asyncio.gather: a0 b0 c0 a1 b1 c1.
    assert log == ["a0", "a1", "b0", "b1", "c0", "c1"]
