from typing import Any

import pytest

from eval_pipeline.recordings.parsing import BrokenLine, parse_line
from eval_pipeline_tests.recordings.questions import line, stored


def broken(written: bytes) -> str:
    with pytest.raises(BrokenLine) as caught:
        parse_line(written)
    return str(caught.value)


def test_a_whole_line_is_an_entry():
    entry = parse_line(line())
    assert (entry.model, entry.cases, entry.words, entry.latency_ms) == (
        "fake:one",
        ("case-1",),
        "is it?",
        12,
    )
    assert entry.parts == (("prompt", "a7990e4dc62c"), ("question", "573cd471224c"))
    assert entry.explain == ()


@pytest.mark.parametrize("name", sorted(stored()))
def test_a_missing_field_is_named(name: str):
    assert broken(line(**{name: ...})).startswith(f"field '{name}' is missing; restore the file with git")


def test_an_unknown_field_is_named():
    assert broken(line(cost=1)).startswith("unknown field 'cost'; restore")


def test_another_format_version_is_named_with_ours():
    assert broken(line(v=2)) == (
        "format version 2, but this eval_pipeline reads version 1; use the eval_pipeline that wrote it, "
        "or delete the line and record again with this one"
    )


def test_the_version_is_checked_before_the_fields_it_defines():
    assert broken(line(v=2, cost=1)).startswith("format version 2")


@pytest.mark.parametrize("value", ["1", None, True, 1.0])
def test_a_version_of_another_type_is_another_version(value: Any):
    assert "format version" in broken(line(v=value))


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("id", 7, "must be text, not 7"),
        ("id", "abc", "must be <key>:<repeat>.<judge_repeat>:<ordinal>"),
        ("id", "ab" * 32 + ":0:0", "must be <key>:<repeat>.<judge_repeat>:<ordinal>"),
        ("kind", "complete", "must be 'chat' or 'embed', not \"complete\""),
        ("role", "user", "must be 'agent' or 'judge'"),
        ("model", None, "must be text, not null"),
        ("label", 1, "must be text"),
        ("cases", "case-1", "must be a list"),
        ("cases", [], "must list at least one case id"),
        ("cases", [1], "must list at least one case id"),
        ("parts", {"prompt": "a7990e4dc62c"}, "must be a list"),
        ("parts", [["prompt"]], "must list pairs"),
        ("parts", [["prompt", "a7990e4dc62c"], ["question"]], "must list pairs"),
        ("parts", [["prompt", "a7990e4dc62c", "x"]], "must list pairs"),
        ("parts", [["prompt", "a7990e4dc62"]], "must list pairs"),
        ("parts", [["prompt", "a7990e4dc62C"]], "must list pairs"),
        ("parts", [["prompt", "a7990e4dc62c,a7990e4dc62c"]], "must list pairs"),
        ("parts", [[1, "a7990e4dc62c"]], "must list pairs"),
        ("parts", [["prompt", 1]], "must list pairs"),
        ("parts", ["ab"], "must list pairs"),
        ("parts", [1], "must list pairs"),
        ("explain", {}, "must list pairs"),
        ("explain", "ab", "must list pairs"),
        ("words", ["is it?"], "must be text"),
        ("response", "yes", 'must be an object, not "yes"'),
        ("usage", {}, "must be null or hold"),
        ("usage", {"input_tokens": 1, "output_tokens": True}, "must be null or hold"),
        ("usage", {"input_tokens": 1, "output_tokens": 1, "cost": 1}, "must be null or hold"),
        ("usage", 3, "must be null or hold"),
        ("latency_ms", 1.5, "must be a whole number, not 1.5"),
        ("latency_ms", True, "must be a whole number, not true"),
        ("at", "yesterday", "must be a UTC time"),
        ("versions", {"python": 3}, "must map names to text"),
    ],
)
def test_a_wrong_value_is_named_with_its_field(name: str, value: Any, told: str):
    message = broken(line(**{name: value}))
    assert message.startswith(f"field '{name}' ")
    assert told in message


def test_a_long_wrong_value_is_cut():
    assert len(broken(line(words=["x" * 5000]))) < 250


def test_no_parts_and_no_explanation_is_an_entry():
    entry = parse_line(line(parts=[], explain=[]))
    assert (entry.parts, entry.explain) == ((), ())


@pytest.mark.parametrize(
    ("written", "told"),
    [
        (b"", "blank line"),
        (b"  \t", "blank line"),
        (b"\r", "blank line"),
        (b"[1]", "not an entry but [1]"),
        (b"null", "not an entry but null"),
        (b'{"v": 1', "not JSON"),
        (line() + line(), "not JSON"),
        (b'{"v": NaN}', "not JSON (NaN is no JSON number)"),
        (b"\xef\xbb\xbf" + line(), "not JSON"),
        (b"\x00\x01\x02", "not JSON"),
        (line(words="gr\xfc\xdfe").replace(b"\\u00fc", b"\xfc"), "not UTF-8 text"),
        (b"[" * 100_000, "not JSON"),
    ],
)
def test_what_is_no_entry_says_why(written: bytes, told: str):
    message = broken(written)
    assert told in message
    assert "restore the file with git, or delete the line and record again" in message


@pytest.mark.parametrize("marker", [b"<<<<<<< HEAD", b"=======", b">>>>>>> main", b"||||||| base"])
def test_a_conflict_marker_is_called_one(marker: bytes):
    message = broken(marker)
    assert message.startswith(f"git conflict marker '{marker[:7].decode()}'; finish the merge")
