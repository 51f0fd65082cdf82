"""JUnit XML, which CI services show test by test."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal
from xml.etree import ElementTree as ET

Tag = Literal["failure", "error", "skipped"]

# What XML 1.0 cannot hold, not even escaped.
_ILLEGAL = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit_root(name: str) -> ET.Element:
    """The root element, for `add_suite` and `junit_text`."""
    return ET.Element("testsuites", name=legal(name))


def junit_test(name: str, group: str) -> ET.Element:
    """One test that passes, until `add_outcome` says otherwise."""
    return ET.Element("testcase", name=legal(name), classname=legal(group))


def add_outcome(test: ET.Element, tag: Tag, kind: str, text: str) -> None:
    """Let a test fail, err or be skipped; the first line of the text is its message."""
    message, _, _ = text.partition("\n")
    element = ET.SubElement(test, tag, type=kind, message=legal(message))
    element.text = legal(text)


def add_suite(root: ET.Element, name: str, tests: Iterable[ET.Element]) -> None:
    """Add a suite of tests with its counts."""
    suite = ET.SubElement(root, "testsuite", name=legal(name))
    suite.extend(tests)
    for attribute, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        suite.set(attribute, str(sum(1 for test in suite if test.find(tag) is not None)))
    suite.set("tests", str(len(suite)))


def junit_text(root: ET.Element) -> str:
    """The whole file with a line end."""
    ET.indent(root)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{ET.tostring(root, encoding="unicode")}\n'


def legal(text: str) -> str:
    """`text` with what XML cannot hold as escapes."""
    return _ILLEGAL.sub(lambda found: found.group().encode("unicode_escape").decode(), text)
