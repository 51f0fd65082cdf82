"""A system that never returns ends as its case's error; one that waits for its model is left alone."""

from __future__ import annotations

import asyncio
import dataclasses

import pytest

from eval_pipeline.agent_runs import run_case
from eval_pipeline.boundary.settings import SystemFields
from eval_pipeline.cases import Case
from eval_pipeline.own_time import LONGEST_S, own_time
from eval_pipeline.recordings import scope
from eval_pipeline.system_reading import read_system
from eval_pipeline.traces import AgentTrace

FOREVER_S = 60.0
LIMIT_S = 0.05


@dataclasses.dataclass(frozen=True)
class Waits:
    """A system that waits before it answers."""

    seconds: float

    async def run(self, case):
        await asyncio.sleep(self.seconds)
        return AgentTrace(case.id, answer="late")


def test_a_system_that_never_returns_is_an_error_of_its_case():
    trace = asyncio.run(run_case(Waits(FOREVER_S), Case("c", "?"), timeout_s=LIMIT_S)).trace
    assert (trace.error.source, trace.error.kind) == ("system", "timeout")
    assert trace.error.message == (
        "run() neither ended nor asked a model for 0.05 s; see what it waits for, "
        "or raise timeout_s of the system"
    )


def test_waiting_for_a_model_takes_none_of_its_time():
    async def work():
        with scope("c") as asked:
            async with own_time(asked, LIMIT_S) as limit:
                for _ in range(2):
                    with asked.waiting():
                        await asyncio.sleep(4 * LIMIT_S)
        return limit.expired()

    assert asyncio.run(work()) is False


def test_after_its_answer_the_time_begins_anew():
    async def work():
        with scope("c") as asked:
            async with own_time(asked, LIMIT_S):
                with asked.waiting():
                    await asyncio.sleep(2 * LIMIT_S)
                await asyncio.sleep(FOREVER_S)

    with pytest.raises(TimeoutError):
        asyncio.run(work())


def test_a_timeout_of_the_system_s_own_is_what_it_raised():
    class RaisesOne:
        async def run(self, case):
            raise TimeoutError("of the database")

    error = asyncio.run(run_case(RaisesOne(), Case("c", "?"))).trace.error
    assert (error.kind, error.message) == ("raised", "TimeoutError: of the database")


@pytest.mark.parametrize(("said", "seconds"), [({}, LONGEST_S), ({"timeout_s": 30}, 30)])
def test_a_suite_sets_the_limit_of_its_module(said, seconds):
    fields = SystemFields(module="eval_pipeline.systems.docs_assistant", **said)
    assert read_system(fields, "suite.yaml:1").timeout_s == seconds
