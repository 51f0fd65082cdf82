import json
import math

import pytest

from eval_pipeline.errors import EvalError
from eval_pipeline.warehouse.stored_text import (
    indented_json,
    json_text,
    optional_text,
    plain,
    stored_text,
)


@pytest.mark.parametrize(
    ("text", "stored"),
    [
        ("plain", "plain"),
        ("a\x00b", "a\x00b"),
        ("\ud800", "\\ud800"),
        ("x\udfffy", "x\\udfffy"),
        ("😀", "😀"),
        ("", ""),
    ],
)
def test_only_lone_surrogates_are_written_out(text: str, stored: str) -> None:
    assert stored_text(text) == stored
    assert optional_text(text) == stored


def test_no_text_stays_none() -> None:
    assert optional_text(None) is None


@pytest.mark.parametrize(
    ("value", "as_plain"),
    [
        (math.nan, "nan"),
        (-math.inf, "-inf"),
        ((1, (2.5, None)), [1, [2.5, None]]),
        ({"b", "a"}, ["a", "b"]),
        ({"k\ud800": ["\udc80"]}, {"k\\ud800": ["\\udc80"]}),
        (10**30, 10**30),
        (True, True),
    ],
)
def test_values_become_json_that_every_reader_accepts(value: object, as_plain: object) -> None:
    assert plain(value) == as_plain
    assert json.loads(json_text(value)) == as_plain


def test_what_json_does_not_have_is_refused_with_its_place() -> None:
    with pytest.raises(EvalError, match=r"case 'a': expected\.when\[0\]: object .* is not plain JSON"):
        json_text({"when": [object()]}, "case 'a': expected")
    with pytest.raises(EvalError, match=r"arguments: key 1 is not text"):
        json_text({1: 2}, "arguments")


@pytest.mark.parametrize(
    "value",
    [
        {"a": {"b": [1, -2.5, 1e-7, 1e300, True, False, None]}, "é": 'ü\n"\\\u2028\x00', "": {}},
        [[], {}, "", 0, [[{"deep": [[]]}]]],
        "text",
        {},
    ],
)
def test_indented_json_is_what_json_itself_writes(value: object) -> None:
    assert indented_json(value) == json.dumps(value, indent=2, ensure_ascii=False)
