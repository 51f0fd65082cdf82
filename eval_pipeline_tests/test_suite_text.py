"""A parameter that names a text file of the suite: read at once, and part of what the suite is keyed by."""

from __future__ import annotations

from pathlib import Path

import pytest

from eval_pipeline.fingerprints import ladder_fingerprint
from eval_pipeline.report.key import report_key
from eval_pipeline.suite_reading import read_suite
from eval_pipeline.suite_text import SuiteText
from eval_pipeline_tests.toy import ToyFiles, write_toy

WORDS = "    threshold: 0.5\n"


@pytest.fixture
def toy(tmp_path: Path) -> ToyFiles:
    toy = write_toy(tmp_path)
    field, module = "also: tuple[str, ...] = ()", "from eval_pipeline.cases import"
    toy.edit_module("scorer", field, f"{field}\n    notes: SuiteText = None")
    toy.edit_module("scorer", module, f"from eval_pipeline.suite_text import SuiteText\n{module}")
    toy.edit("suite.yaml", WORDS, f"{WORDS}    parameters: {{notes: notes.md}}\n")
    toy.write("notes.md", "Be kind.\r\n")
    return toy


def test_the_file_is_read_when_the_suite_is(toy):
    stage = read_suite(toy.suite).stages[2]
    assert stage.scorer.notes == SuiteText("notes.md", "Be kind.")


def test_an_edited_text_changes_the_ladder_and_shows_in_the_reports_key_as_its_hash(toy):
    before = read_suite(toy.suite)
    toy.write("notes.md", "Be strict.")
    after = read_suite(toy.suite)
    assert ladder_fingerprint(before) != ladder_fingerprint(after)
    shown = [report_key(suite, suite.cells[0])["stages"][2]["parameters"] for suite in (before, after)]
    assert [parameters["notes"]["file"] for parameters in shown] == ["notes.md", "notes.md"]
    assert shown[0]["notes"]["sha"] != shown[1]["notes"]["sha"]
    assert "Be kind" not in str(shown)


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("note.md", "no file {folder}/note.md; did you mean 'notes.md'?"),
        ("prompts", "no file {folder}/prompts"),
        ("../../secret.md", "'../../secret.md' is not a file inside the suite's folder"),
        ("/etc/hostname", "'/etc/hostname' is not a file inside the suite's folder"),
        ("1", "1 is no file's name; write one such as 'rubric.md'"),
        ("empty.md", "{folder}/empty.md is empty; write it"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused_where_it_is_named(toy, name, problem):
    toy.write("empty.md", " \n")
    toy.edit("suite.yaml", "{notes: notes.md}", f"{{notes: {name}}}")
    (found,) = toy.problems()
    expected = f"suite.yaml:11: stages[2].parameters.notes: {problem.format(folder=toy.suite)}"
    assert found.startswith(expected.replace(f"{toy.suite}/", ""))


def test_a_file_that_is_no_text_is_refused_with_its_place(toy):
    toy.write("notes.md", b"caf\xe9")
    assert toy.problems() == ["notes.md:1: byte 0xe9 is not UTF-8; save the file as UTF-8"]
