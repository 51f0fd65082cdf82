"""The circuit: a provider that fails call after call is not asked any more in that run."""

from __future__ import annotations

import asyncio

import pytest

from eval_pipeline.errors import CallFailed, ProviderFault
from eval_pipeline.models.circuit import FAILURES_IN_A_ROW, Circuit
from eval_pipeline_tests.models.live_models import SETTINGS, run_calls
from eval_pipeline_tests.provider_replies import Say, Status


def test_a_dead_provider_ends_the_rest_of_the_run_fast(live):
    live.stub.answer = lambda asked: Status(500)
    kinds = []
    for n in range(8):
        with pytest.raises(ProviderFault) as caught:
            live.ask(f"Question {n}")
        kinds.append(caught.value.kind)
    # Five calls with five attempts each; the other three are not made.
    assert kinds == ["http_500"] * 5 + ["circuit_open"] * 3
    assert live.stub.calls == 25
    assert "not asked any more, as 5 calls in a row failed, the last with http_500" in caught.value.message
    assert live.recorded() == []
    live.stub.answer = lambda asked: Say("ok")
    live.begin_run()
    assert live.ask("Question 0").text == "ok"


def test_calls_that_are_waiting_for_their_next_attempt_end_with_the_rest(live):
    live.stub.answer = lambda asked: Status(500)

    async def work(models):
        model = models.chat()
        asked = (model.ainvoke(f"Question {n}") for n in range(20))
        return await asyncio.gather(*asked, return_exceptions=True)

    kinds = [failure.kind for failure in live.run(work, max_concurrency=2)]
    assert set(kinds) == {"http_500", "circuit_open"}
    assert live.stub.calls < 50  # and not 100


def test_one_answer_closes_the_circuit():
    circuit = Circuit("openai:m")
    for _ in range(FAILURES_IN_A_ROW):
        circuit.refuse_if_open()
        circuit.failed(ProviderFault("timeout", "slow"))
    with pytest.raises(ProviderFault, match=r"circuit_open"):
        circuit.refuse_if_open()
    circuit.answered()  # by a call that was in flight
    circuit.refuse_if_open()


def test_a_request_that_is_refused_is_an_answer():
    calls, _ = run_calls()

    class BadRequest(Exception):
        status_code = 400

    def refuse():
        raise BadRequest("no")

    def drop():
        raise ConnectionResetError("dropped")

    kinds = []
    for ask in [drop] * 4 + [refuse] + [drop] * 4:
        with pytest.raises((CallFailed, ProviderFault)) as caught:
            calls.of(SETTINGS).call_sync(ask)
        kinds.append(caught.value.kind)
    assert kinds == ["connection"] * 4 + ["refused_request"] + ["connection"] * 4
