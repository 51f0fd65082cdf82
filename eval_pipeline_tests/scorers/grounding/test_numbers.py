from decimal import Decimal

import pytest

from eval_pipeline.scorers.grounding.lexing import lex
from eval_pipeline.scorers.grounding.numbers import Number, parse_number


def numbers_in(text: str) -> list[Number]:
    return [number for token in lex(text) if token.kind == "number" for number in parse_number(token.text)]


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("1,000 and 10_000", ["1000", "10000"]),
        ("ports 80,8080", ["80", "8080"]),
        ("v2.4.1 and 12.4.1.", ["2.4.1", "12.4.1"]),
        ("2.4.1-rc1, 2.4.x", ["2.4.1-rc1", "2.4.x"]),
        ("thirty, twenty-five, two hundred and fifty", ["30", "25", "250"]),
        ("between two and three", ["2", "3"]),
        ("#231, 30-60, -1", ["231", "30", "60", "-1"]),
        ("sha256, utf-8, x86_64, 4b825dc, tasks2.db", []),
        ("step-two.md, one-way, /etc/two", []),
        ("2024-01-05 at 10:30", []),
    ],
)
def test_numbers_are_read_in_digits_and_words(text, values) -> None:
    assert [number.value for number in numbers_in(text)] == values


@pytest.mark.parametrize(
    ("text", "quantity"),
    [
        ("30 s", ("time", Decimal(30))),
        ("30-second", ("time", Decimal(30))),
        ("thirty seconds", ("time", Decimal(30))),
        ("0.5 minutes", ("time", Decimal(30))),
        ("30000ms", ("time", Decimal(30))),
        ("1 KiB", ("size", Decimal(1024))),
        ("50%", ("percent", Decimal(50))),
        ("2 years", ("months", Decimal(24))),
        ("30 laptops", None),
    ],
)
def test_a_unit_makes_a_quantity_in_its_base_unit(text, quantity) -> None:
    [number] = numbers_in(text)

    assert number.quantity == quantity


@pytest.mark.parametrize(
    ("text", "soft"), [("two ways", True), ("two seconds", False), ("eleven ways", False), ("2 ways", False)]
)
def test_a_small_number_in_words_without_unit_is_soft(text, soft) -> None:
    [number] = numbers_in(text)

    assert number.soft is soft
