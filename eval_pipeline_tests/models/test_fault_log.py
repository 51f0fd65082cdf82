"""Faults that are alike are logged a few times, and then ever more seldom."""

from __future__ import annotations

import logging

from eval_pipeline.models.fault_log import FaultLog


def test_the_first_four_of_a_kind_are_shown_and_then_each_power_of_ten(caplog):
    faults = FaultLog("openai:m")
    with caplog.at_level(logging.INFO):
        for n in range(1, 1001):
            faults.tell(logging.WARNING, "http_503", f"attempt {n}")
    shown = [record.getMessage() for record in caplog.records]
    assert [text.partition(" (")[0] for text in shown] == [
        f"attempt {n}" for n in (1, 2, 3, 4, 10, 100, 1000)
    ]
    assert "openai:m failed so 100 times by now" in shown[5]


def test_other_kinds_are_counted_apart(caplog):
    faults = FaultLog("openai:m")
    with caplog.at_level(logging.INFO):
        for kind in ("http_503", "timeout") * 3:
            faults.tell(logging.WARNING, kind, kind)
        faults.tell(logging.ERROR, "timeout", "gave up")
    assert len(caplog.records) == 7


def test_what_is_not_shown_is_there_for_debugging(caplog):
    faults = FaultLog("openai:m")
    with caplog.at_level(logging.DEBUG):
        for n in range(6):
            faults.tell(logging.ERROR, "timeout", f"call {n}")
    levels = [record.levelname for record in caplog.records]
    assert levels == ["ERROR"] * 4 + ["DEBUG"] * 2
