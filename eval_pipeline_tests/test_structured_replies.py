import re
from typing import Literal

import pytest
from pydantic import BaseModel

from eval_pipeline.structured_replies import fit_reply, parse_reply


class Point(BaseModel):
    x: int
    tags: tuple[str, ...] = ()


class Line(BaseModel):
    kind: Literal["solid", "dashed"]
    start: Point


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "Expecting value"),
        ('{"x": 1', "Expecting ',' delimiter"),
        ('```json\n{"x": 1}\n```', "Expecting value"),
        ('{"x": 1} Done.', "Extra data"),
        ('{"x": 1, "x": 2}', "duplicate keys among x, x"),
        ('{"x": NaN}', "NaN is no JSON"),
        ("[" * 100_000, "nested too deep"),
    ],
)
def test_what_is_not_json_alone_is_refused(text: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        parse_reply(text)


@pytest.mark.parametrize(
    ("data", "why"),
    [
        ({"kind": "solid"}, "start is missing"),
        ({"kind": "solid", "start": {"x": "1"}}, 'start.x: input should be a valid integer, found "1"'),
        ({"kind": "solid", "start": {"x": True}}, "start.x: input should be a valid integer, found true"),
        ({"kind": "solid", "start": {"x": 1, "y": 2}}, "start.y is no field of it"),
        ({"kind": "Solid", "start": {"x": 1}}, "kind: input should be 'solid' or 'dashed', found \"Solid\""),
        ([], "the reply: input should be an object, found []"),
    ],
)
def test_what_does_not_fit_is_refused_and_nothing_is_converted(data: object, why: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(why)}$"):
        fit_reply(data, Line)


def test_what_fits_is_the_model() -> None:
    data = parse_reply('{"kind": "dashed", "start": {"x": 1, "tags": ["a"]}}')
    assert fit_reply(data, Line) == Line(kind="dashed", start=Point(x=1, tags=("a",)))
