import json
import re

import pytest

from eval_pipeline.content_hash import content_hash
from eval_pipeline.errors import CallFailed
from eval_pipeline.recordings import Entry, Request, Scope
from eval_pipeline.recordings.entry import describe_call, describe_failure
from eval_pipeline.recordings.parsing import parse_line
from eval_pipeline_tests.recordings.questions import ID, line, stored


def described(response: dict, **changes: object) -> Entry:
    request = Request("chat", "fake:one", {"prompt": "a" * 64, "question": "b" * 64}, **changes)
    return describe_call(request, Scope("case-1"), ID, response, 12.6)


def test_a_line_is_the_fields_in_sorted_order():
    assert parse_line(line()).line() == line()


def test_a_call_is_described_with_12_digits_a_part_in_their_order():
    entry = described({"text": "yes"})
    assert entry.parts == (("prompt", "a" * 12), ("question", "b" * 12))
    assert (entry.id, entry.kind, entry.role, entry.model, entry.cases) == (
        ID, "chat", "agent", "fake:one", ("case-1",),
    )  # fmt: skip
    assert entry.latency_ms == 13
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", entry.at)
    assert entry.versions.keys() >= {"python", "eval_pipeline"}


def test_parts_keep_their_order_through_a_line():
    parts = [["z", "0" * 12], ["a", "1" * 12], ["m", "2" * 12]]
    entry = parse_line(parse_line(line(parts=parts)).line())
    assert [label for label, _ in entry.parts] == ["z", "a", "m"]


def test_explanations_are_stored_only_where_there_are_any():
    assert "explain" not in json.loads(described({}).line())
    entry = described({}, explain={"template": "c" * 64})
    assert json.loads(entry.line())["explain"] == [["template", "c" * 12]]


def test_words_are_one_line_of_at_most_200_characters():
    assert described({}, words="one\n two\u2028three\t").words == "one two three"
    assert described({}, words="w" * 201).words == "w" * 200


def test_words_lose_their_credentials_before_they_are_cut():
    assert described({}, words="x" * 180 + " https://me:" + "p" * 100 + "@host").words.endswith(
        " https://***@host"
    )


@pytest.mark.parametrize(
    ("response", "usage"),
    [
        ({"usage": {"input_tokens": 3, "output_tokens": 1}}, {"input_tokens": 3, "output_tokens": 1}),
        (
            {"usage": {"input_tokens": 3, "output_tokens": 1, "cached": 2}},
            {"input_tokens": 3, "output_tokens": 1},
        ),
        ({"usage": None}, None),
        ({"usage": {"input_tokens": 10**30, "output_tokens": 1}}, None),
        ({"usage": {"input_tokens": -1, "output_tokens": 1}}, None),
        ({"usage": {"input_tokens": 3}}, None),
        ({}, None),
    ],
)
def test_usage_is_what_the_response_tells(response: dict, usage: dict | None):
    assert described(response).usage == usage
    assert described(response).response == response


def test_only_tokens_of_a_chat_count():
    assert parse_line(line()).tokens == (3, 1)
    assert parse_line(line(usage=None)).tokens == (0, 0)
    assert parse_line(line(kind="embed")).tokens == (0, 0)


def test_a_failure_is_told_from_an_answer():
    failed = parse_line(line(response={"error": {"kind": "blocked", "message": "unsafe"}})).failure
    assert failed is not None
    assert (failed.kind, failed.message) == ("blocked", "unsafe")


@pytest.mark.parametrize(
    "response",
    [
        {"error": "no such issue"},
        {"error": {"kind": "blocked"}},
        {"error": {"kind": "blocked", "message": "unsafe", "code": 3}},
        {"error": {"kind": "blocked", "message": "unsafe"}, "text": "yes"},
    ],
)
def test_an_answer_that_speaks_of_an_error_is_an_answer(response: dict):
    assert parse_line(line(response=response)).failure is None


def test_a_failure_is_described_without_credentials():
    failure = CallFailed("refused", "POST https://host/v1?key=abc 400")
    assert describe_failure(failure) == {
        "error": {"kind": "refused", "message": "POST https://host/v1?key=*** 400"}
    }


@pytest.mark.parametrize(
    "text",
    [
        "Grüße, 世界 🎉",
        "NUL \x00 and bell \x07",
        "lone \ud800 surrogate \udfff",
        "after a backslash \\\ud800",
        "line\u2028and paragraph\u2029 separators, next line \x85",
        'quotes " and \\ and \n and \r\n',
        "case-" + "x" * 300,
    ],
)
def test_any_text_survives_a_line(text: str):
    entry = parse_line(line(response={text: [text]}, cases=[text], words=text, label=text, model=text))
    stored_line = entry.line()
    assert b"\n" not in stored_line
    stored_line.decode("utf-8")
    assert parse_line(stored_line) == entry
    assert entry.response == {text: [text]}


def test_readable_text_stays_readable():
    entry = parse_line(json.dumps(stored(words="Grüße 世界")).encode())
    assert "Grüße 世界".encode() in entry.line()


def test_digits_of_a_part_are_those_people_read_elsewhere():
    entry = describe_call(
        Request("chat", "fake:one", {"prompt": content_hash("Be brief.")}), Scope("a"), ID, {}, 0
    )
    assert entry.parts == (("prompt", content_hash("Be brief.")[:12]),)
