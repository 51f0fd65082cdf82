import asyncio

import pytest

from eval_pipeline.recordings import Scope, current_scope, scope


def test_without_an_open_scope_asking_for_it_says_how_to_open_one():
    with pytest.raises(RuntimeError, match=r"with scope\(case_id\)"):
        current_scope()


def test_the_innermost_scope_is_current_and_the_outer_one_comes_back():
    with scope("a") as outer:
        with scope("a", "judge", label="faithfulness", repeat=1, judge_repeat=2) as inner:
            assert current_scope() is inner
            assert (inner.role, inner.label, inner.repeat, inner.judge_repeat) == (
                "judge",
                "faithfulness",
                1,
                2,
            )
        assert current_scope() is outer


def test_tasks_and_threads_started_in_a_scope_are_in_it():
    async def run() -> tuple[Scope, Scope, Scope]:
        with scope("a") as opened:
            in_task, in_thread = await asyncio.gather(here(), asyncio.to_thread(current_scope))
            return opened, in_task, in_thread

    async def here() -> Scope:
        return current_scope()

    opened, in_task, in_thread = asyncio.run(run())
    assert in_task is opened
    assert in_thread is opened


def test_runs_side_by_side_keep_their_scopes_apart():
    async def run(case: str) -> str:
        with scope(case):
            await asyncio.sleep(0)
            return current_scope().case_id

    async def both() -> list[str]:
        return await asyncio.gather(run("a"), run("b"))

    assert asyncio.run(both()) == ["a", "b"]


def test_ordinals_count_each_key_from_0():
    asker = Scope("a")
    assert [asker.take_ordinal(key) for key in "xxyx"] == [0, 1, 0, 2]


def test_a_returned_ordinal_is_the_next_one_taken():
    asker = Scope("a")
    assert [asker.take_ordinal("x") for _ in range(3)] == [0, 1, 2]
    asker.return_ordinal("x", 1)
    asker.return_ordinal("x", 0)
    assert [asker.take_ordinal("x") for _ in range(3)] == [0, 1, 3]
