from __future__ import annotations

import pytest

from eval_pipeline.gating.node_names import NamePatterns, split_node_id, split_pytest_id
from eval_pipeline.gating.outcomes import CheckOutcome


@pytest.mark.parametrize(
    ("nodeid", "parts"),
    [
        ("docs::backup::tools", ("docs", "backup", "tools")),
        ("docs::a/b: c|d…::tools", ("docs", "a/b: c|d…", "tools")),
        ("docs::backup", None),
        ("docs::a:::tools", ("docs", "a:", "tools")),  # a case's id may end with a colon
        ("docs::a::b::tools", None),
        ("docs::::tools", None),
        ("", None),
    ],
)
def test_our_node_ids_have_three_parts(nodeid: str, parts: tuple[str, str, str] | None) -> None:
    assert split_node_id(nodeid) == parts


@pytest.mark.parametrize(
    ("nodeid", "case", "check"),
    [
        ("tests/test_docs.py::test_tools[backup]", "backup", "test_tools"),
        ("tests/test_docs.py::TestStages::test_tools[backup-1]", "backup-1", "test_tools"),
        ("tests/test_docs.py::test_tools[a::b[c]]", "a::b[c]", "test_tools"),
        ("tests/test_docs.py::test_tools", "tests/test_docs.py", "test_tools"),
        ("tests/test_docs.py::TestStages::test_tools", "tests/test_docs.py::TestStages", "test_tools"),
        ("tests/test_docs.py", "tests/test_docs.py", "tests/test_docs.py"),
    ],
)
def test_pytest_node_ids_are_taken_apart(nodeid: str, case: str, check: str) -> None:
    assert split_pytest_id(nodeid) == (case, check)


OURS = CheckOutcome("docs::backup::test_tools", "backup", "test_tools", "passed")
PYTESTS = CheckOutcome("tests/test_docs.py::test_tools[backup]", "backup", "test_tools", "passed")


@pytest.mark.parametrize("test", [OURS, PYTESTS], ids=["ours", "pytest's"])
@pytest.mark.parametrize(
    ("pattern", "means_it"),
    [
        ("test_tools", True),
        ("test_tool", False),
        ("test_*", True),
        ("*", True),
        ("test_tool?", True),
        ("Test_tools", False),
        ("backup", False),  # a case is no check
        ("docs*", False),  # a plain glob is never matched against a path or a suite
        ("tests*", False),
        ("backup::test_tools", True),
        ("backup::*", True),
        ("*::test_tools", True),
        ("restore::test_tools", False),
        ("test_tools[backup]", True),
        ("test_tools[back*]", True),
        ("test_tools[b]", False),  # brackets are no set of letters
        ("test_tool[stuv]", False),
    ],
)
def test_patterns(test: CheckOutcome, pattern: str, means_it: bool) -> None:
    assert NamePatterns([pattern]).match(test) is means_it


def test_a_whole_node_id_means_its_test() -> None:
    assert NamePatterns([OURS.nodeid]).match(OURS)
    assert NamePatterns([PYTESTS.nodeid]).match(PYTESTS)
    assert not NamePatterns([OURS.nodeid]).match(PYTESTS)


def test_no_pattern_means_nothing() -> None:
    assert not NamePatterns([]).match(OURS)
    assert not NamePatterns([]).match_text("")
