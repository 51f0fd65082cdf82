from __future__ import annotations

import gc

from eval_pipeline.garbage_collection import collector_paused, few_whole_collections


def test_the_collector_rests_and_goes_on_afterwards() -> None:
    with collector_paused():
        assert not gc.isenabled()

    assert gc.isenabled()


def test_a_collector_that_was_off_stays_off() -> None:
    gc.disable()
    try:
        with collector_paused():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_everything_is_looked_through_ten_times_more_rarely_and_only_meanwhile() -> None:
    young, middle, old = before = gc.get_threshold()
    with few_whole_collections():
        assert gc.get_threshold() == (young, middle, 10 * old)
    assert gc.get_threshold() == before
