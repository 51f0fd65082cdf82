"""What an exception says, whatever its text does."""

from __future__ import annotations

from eval_pipeline.failure_text import failure_text, shortened


class Mute(Exception):
    def __str__(self):
        raise ZeroDivisionError


def test_an_exception_whose_text_raises_is_named_all_the_same():
    assert failure_text(Mute()) == "Mute: its text could not be made: ZeroDivisionError"


def test_a_long_text_is_cut_and_says_by_how_much():
    assert shortened("x" * 1_234 + "y" * 4_321, 1_234) == "x" * 1_234 + "… (4,321 more characters)"
    assert shortened("x" * 9, 9) == "x" * 9


def test_a_key_at_the_cut_leaves_no_half(monkeypatch):
    monkeypatch.setenv("APP_KEY", "fake-key-0123456789")
    # "ValueError: " and 1,983 letters are 1,995 characters: five of the key would stand before the cut.
    assert failure_text(ValueError("x" * 1_983 + "fake-key-0123456789")).endswith("x***")
