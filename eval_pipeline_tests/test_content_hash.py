import hashlib
from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eval_pipeline.content_hash import ListHash, canonical_json, content_hash, sha12

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


def test_canonical_json_is_ascii_with_sorted_keys_and_no_spaces() -> None:
    assert canonical_json({"b": [1, 2.5, None], "a": "é☃"}) == b'{"a":"\\u00e9\\u2603","b":[1,2.5,null]}'


def test_the_hash_is_sha256_of_the_canonical_json() -> None:
    # printf '{"a":1}' | sha256sum
    assert content_hash({"a": 1}) == "015abd7f5cc57a2dd94b7590f04ad8084273905ee33ec5cebeae62276a97f862"
    assert sha12({"a": 1}) == "015abd7f5cc5"
    assert content_hash("x") == hashlib.sha256(b'"x"').hexdigest()


@given(st.dictionaries(st.text(), JSON))
def test_the_order_of_keys_does_not_matter(value: dict[str, Any]) -> None:
    assert content_hash(dict(reversed(value.items()))) == content_hash(value)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ([1, 2], [2, 1]),
        (1, "1"),
        (1, True),
        (None, ""),
        ({"a": None}, {}),
        ("é", "e\u0301"),
        (["ab"], ["a", "b"]),
    ],
)
def test_different_content_has_different_hashes(one: Any, other: Any) -> None:
    assert content_hash(one) != content_hash(other)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), [-float("inf")]])
def test_what_json_has_no_number_for_is_refused(value: Any) -> None:
    with pytest.raises(ValueError, match="Out of range float values are not JSON compliant"):
        content_hash(value)


@pytest.mark.parametrize("value", [date(2026, 11, 30), {1}, b"x", object()])
def test_what_json_has_no_type_for_is_refused(value: Any) -> None:
    with pytest.raises(TypeError, match="is not JSON serializable"):
        content_hash(value)


@pytest.mark.parametrize("parts", [[], [[]], [[1, "ä"], [], [None, {"b": 1, "a": 2}]]])
def test_a_list_hashed_in_parts_has_the_hash_of_the_whole(parts):
    hashed = ListHash()
    for part in parts:
        hashed.add(part)
    assert hashed.hexdigest() == content_hash([value for part in parts for value in part])
