"""Whatever a system's coroutine does to itself ends nothing else."""

from __future__ import annotations

import asyncio

import pytest

from eval_pipeline.contained import BrokeOff, contained


class Ends(BaseException):
    """What no `except Exception` catches, as pytest and others raise it."""


async def cancels_its_task():
    task = asyncio.current_task()
    assert task is not None
    task.cancel()
    await asyncio.sleep(0)


async def raises(failure):
    raise failure


@pytest.mark.parametrize(
    ("work", "says"),
    [
        (cancels_its_task, "CancelledError: the system cancelled itself"),
        (lambda: raises(asyncio.CancelledError()), "CancelledError: the system cancelled itself"),
        (lambda: raises(SystemExit(3)), "SystemExit: 3"),
        (lambda: raises(GeneratorExit("x")), "GeneratorExit: x"),
        (lambda: raises(Ends("now")), "Ends: now"),
    ],
    ids=["task", "cancelled", "exit", "generator", "other"],
)
def test_what_would_end_more_than_itself_is_told(work, says):
    async def run():
        with pytest.raises(BrokeOff) as caught:
            await contained(work())
        assert str(caught.value) == says
        return "goes on"

    assert asyncio.run(run()) == "goes on"


def test_cancelling_from_outside_cancels_it():
    ended = []

    async def waits():
        try:
            await asyncio.sleep(60)
        finally:
            ended.append(True)

    async def run():
        async with asyncio.timeout(0.01):
            await contained(waits())

    with pytest.raises(TimeoutError):
        asyncio.run(run())
    assert ended == [True]


def test_an_ordinary_failure_and_a_result_pass_through():
    async def answers():
        return 3

    assert asyncio.run(contained(answers())) == 3
    with pytest.raises(ValueError, match="bug"):
        asyncio.run(contained(raises(ValueError("bug"))))
