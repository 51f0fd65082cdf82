"""A suite is read once while none of its files changes, and anew as soon as one does."""

from __future__ import annotations

import os
import time

import pytest

from eval_pipeline import suite_cache
from eval_pipeline.suite_reading import find_suite, read_suite
from eval_pipeline_tests.toy import write_toy


@pytest.fixture
def toy(tmp_path, monkeypatch):
    monkeypatch.setattr(suite_cache, "SETTLED_NS", -(10**9))  # as if the files had been there for long
    monkeypatch.setattr(suite_cache, "_READ", {})
    return write_toy(tmp_path)


def test_an_unchanged_suite_is_the_one_read_before(toy):
    assert find_suite(toy.data, "toy") is find_suite(toy.data, "toy")


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("suite.yaml", "threshold: 0.5", "threshold: 0.6"),
        ("datasets/small.yaml", "Thank you!", "Thanks a lot!"),
        ("documents/pear.md", "green", "yellow"),
        ("fixtures/prices.yaml", "pear: 4", "pear: 40"),
        ("prompts/v1.md", "Look", "Please look"),
    ],
)
def test_an_edited_file_makes_it_be_read_anew(toy, name, old, new):
    before = find_suite(toy.data, "toy")
    toy.edit(name, old, new)
    assert find_suite(toy.data, "toy") is not before


def test_an_added_file_does_too_but_not_what_is_recorded_or_reported(toy):
    before = find_suite(toy.data, "toy")
    for apart in suite_cache.APART:
        toy.write(f"{apart}/note.txt", "1")
    assert find_suite(toy.data, "toy") is before
    toy.write("documents/plum.md", "A plum is blue.")
    assert find_suite(toy.data, "toy") is not before


def test_an_edited_system_makes_it_be_read_anew(toy):
    before = find_suite(toy.data, "toy")
    toy.edit_module("system", "You are welcome.", "Welcome.")
    assert find_suite(toy.data, "toy").system.code_sha != before.system.code_sha


@pytest.fixture
def young(toy, monkeypatch):
    """The suite's files count as changed just now; modules do not, however new the checkout is."""
    monkeypatch.setattr(suite_cache, "SETTLED_NS", -(10**12))
    later = time.time() + 10**4
    for path in toy.suite.rglob("*.*"):
        os.utime(path, (later, later))


def test_files_changed_just_now_are_not_parsed_again_while_they_say_the_same(toy, young):
    assert find_suite(toy.data, "toy") is find_suite(toy.data, "toy")


def test_files_changed_just_now_are_read_anew_when_no_clock_tells(toy, young):
    before = find_suite(toy.data, "toy")
    path = toy.suite / "prompts" / "v1.md"
    found = path.stat()
    path.write_bytes(path.read_bytes().replace(b"Look", b"Seek"))
    os.utime(path, ns=(found.st_atime_ns, found.st_mtime_ns))
    assert (path.stat().st_size, path.stat().st_mtime_ns) == (found.st_size, found.st_mtime_ns)
    after = find_suite(toy.data, "toy")
    prompts = [next(iter(suite.candidates.values())).prompt for suite in (before, after)]
    assert [prompt[:4] for prompt in prompts] == ["Look", "Seek"]


def test_what_changes_while_it_is_read_is_read_again(toy, young):
    def read(folder):
        suite = read_suite(folder)
        toy.edit("prompts/v1.md", "Look", "Seek")
        return suite

    assert suite_cache.read_once(toy.suite, read) is not find_suite(toy.data, "toy")
