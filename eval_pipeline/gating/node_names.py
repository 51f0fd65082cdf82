"""Node ids taken apart, and the names of a policy that match them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Protocol


class NamedTest(Protocol):
    """A test that a policy's names can mean."""

    @property
    def nodeid(self) -> str:
        """`suite::case::check`, or pytest's own."""
        ...

    @property
    def case(self) -> str:
        """Id of the case."""
        ...

    @property
    def check(self) -> str:
        """Name of the check."""
        ...


def split_node_id(nodeid: str) -> tuple[str, str, str] | None:
    """Suite, case and check of one of our node ids, `suite::case::check`; None when it is none."""
    suite, _, rest = nodeid.partition("::")
    case, _, check = rest.rpartition("::")  # from the right, for a case's id may end with a colon
    if not (suite and case and check) or "::" in case:
        return None
    return suite, case, check


def split_pytest_id(nodeid: str) -> tuple[str, str]:
    """Case and check of a pytest node id.

    `tests/test_docs.py::test_tools[backup]` is check `test_tools` of case `backup`. A test without a
    parameter has its file (and class) as its case, so that tests of one file are looked at together.
    """
    path, _, rest = nodeid.partition("::")
    head, bracket, parameter = rest.partition("[")
    if bracket and parameter.endswith("]"):
        return parameter[:-1], head.rpartition("::")[2]
    owner, _, name = rest.rpartition("::")
    return (f"{path}::{owner}" if owner else path), name or path


class NamePatterns:
    """Names as a policy writes them, each a name or a glob in which `*` and `?` stand for anything.

    A plain name is a check and matches it in every case, also where it is written `name[case]`.
    A name with `::` is matched against `case::check` and against the whole node id; one with `[`
    against `check[case]`, where brackets are brackets and no set of letters.
    """

    def __init__(self, patterns: Sequence[str]) -> None:
        self.patterns = tuple(patterns)
        plain = [name for name in patterns if "::" not in name and "[" not in name]
        self._plain = _union(plain)
        self._qualified = _union([name for name in patterns if name not in plain])
        self._checks: dict[str, bool] = {}

    def match(self, test: NamedTest) -> bool:
        """Whether any of the names means this test."""
        return self.match_check(test.check) or (
            self._qualified is not None
            and any(self._qualified.fullmatch(form) for form in _qualified_forms(test))
        )

    def match_check(self, check: str) -> bool:
        """Whether any of the plain names means this check, in every case."""
        if check not in self._checks:
            self._checks[check] = self._plain is not None and bool(self._plain.fullmatch(check))
        return self._checks[check]

    def match_text(self, text: str) -> bool:
        """Whether any of the plain names is this text."""
        return self._plain is not None and bool(self._plain.fullmatch(text))


def _qualified_forms(test: NamedTest) -> tuple[str, str, str]:
    return f"{test.case}::{test.check}", f"{test.check}[{test.case}]", test.nodeid


def _union(patterns: Sequence[str]) -> re.Pattern[str] | None:
    if not patterns:
        return None
    return re.compile("|".join(f"(?:{_regex(pattern)})" for pattern in patterns), re.DOTALL)


def _regex(pattern: str) -> str:
    wildcards = {"*": ".*", "?": "."}
    return "".join(wildcards.get(letter) or re.escape(letter) for letter in pattern)
