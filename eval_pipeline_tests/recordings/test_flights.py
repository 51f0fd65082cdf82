import asyncio

import pytest

from eval_pipeline.recordings.flights import Flight, Flights


def test_the_first_to_ask_makes_the_call_and_others_join_it():
    flights = Flights()
    assert flights.join("x") is None
    assert isinstance(flights.join("x"), Flight)
    assert flights.join("y") is None


def test_who_waits_is_told_when_the_call_has_ended():
    flights = Flights()
    flights.join("x")
    flight = flights.join("x")
    with flights.landing("x"):
        assert not flight.done()
    assert flight.result() is None
    assert flights.join("x") is None


def test_who_waits_is_told_of_a_fault():
    flights = Flights()
    flights.join("x")
    flight = flights.join("x")
    fault = ValueError("down")
    with pytest.raises(ValueError, match="down"), flights.landing("x"):
        raise fault
    assert flight.result() is fault


def test_a_cancelled_call_is_nobody_elses_fault():
    flights = Flights()
    flights.join("x")
    flight = flights.join("x")
    with pytest.raises(asyncio.CancelledError), flights.landing("x"):
        raise asyncio.CancelledError
    assert flight.result() is None


def test_only_threads_without_an_event_loop_may_block():
    async def run() -> tuple[bool, bool]:
        return flights.joinable(), await asyncio.to_thread(flights.joinable)

    flights = Flights()
    assert flights.joinable()
    assert asyncio.run(run()) == (False, True)
