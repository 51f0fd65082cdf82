from __future__ import annotations

import gc

from eval_pipeline.garbage_collection import collector_paused


def test_the_collector_rests_and_goes_on_afterwards() -> None:
    with collector_paused():
        assert not gc.isenabled()

    assert gc.isenabled()


def test_what_was_built_meanwhile_counts_as_old() -> None:
    with collector_paused():
        built = [[n] for n in range(1_000)]

    assert any(known is built for known in gc.get_objects(generation=2))
    assert gc.get_freeze_count() == 0


def test_a_collector_that_was_off_stays_off() -> None:
    gc.disable()
    try:
        with collector_paused():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()
