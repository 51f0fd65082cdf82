from collections.abc import Callable
from pathlib import Path

import pytest
from pydantic import BaseModel, ConfigDict

from eval_pipeline.case_reading import read_cases
from eval_pipeline.cases import Case, CaseFields, DatasetFields, id_fault
from eval_pipeline.content_hash import content_hash
from eval_pipeline.errors import CaseError
from eval_pipeline_tests.bad_yaml import NO_MAPPING, NO_TEXT


class Expected(BaseModel):
    model_config = ConfigDict(extra="forbid")

    pages: list[str] = []
    tools: list[str] | None = None


class OneCase(CaseFields):
    expected: Expected = Expected()


class Fields(DatasetFields):
    cases: list[OneCase]  # type: ignore[assignment]


Read = Callable[[str], tuple[Case, ...]]
Problems = Callable[[str], list[str]]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    def read_text(text: str) -> tuple[Case, ...]:
        (tmp_path / "v1.yaml").write_text(text, encoding="utf-8", newline="")
        return read_cases(tmp_path / "v1.yaml", Fields).cases

    return read_text


@pytest.fixture
def problems(read: Read, tmp_path: Path) -> Problems:
    def problems_of(text: str) -> list[str]:
        with pytest.raises(CaseError) as refusal:
            read(text)
        return [problem.replace(f"{tmp_path}/", "") for problem in refusal.value.problems]

    return problems_of


def dataset(*ids: str) -> str:
    """A dataset whose cases have these ids as written: that of case n, from 0, stands in line 3 + 2n."""
    return "version: 1\ncases:\n" + "".join(f"  - id: {written}\n    input: Why?\n" for written in ids)


# -- reading ---------------------------------------------------------------------------------------------


def test_a_case_is_read_with_its_expectations(read: Read) -> None:
    [case] = read(
        "version: 1\ncases:\n  - id: a\n    input: Why?\n    reference: So.\n    expected: {pages: [p]}\n"
    )
    assert case == Case("a", "Why?", "So.", {"pages": ["p"], "tools": None})
    assert case.question == "Why?"


def test_an_input_that_is_more_than_a_question_stays_plain_data(read: Read) -> None:
    [case] = read("version: 1\ncases:\n  - {id: a, input: {turns: [Hé, 2], all: true}}\n")
    assert case.input == {"turns": ["Hé", 2], "all": True}
    assert case.question == '{"all": true, "turns": ["Hé", 2]}'


def test_a_key_left_out_has_its_default_and_is_no_part_of_the_content(read: Read) -> None:
    [out, null] = read(
        "version: 1\ncases:\n  - {id: a, input: b}\n  - {id: a2, input: b, expected: {tools: }}"
    )
    assert out.expected == null.expected == {"pages": [], "tools": None}
    assert out.content() == {"id": "a", "input": "b", "reference": None, "expected": {}}
    assert null.content()["expected"] == {"tools": None}


@pytest.mark.parametrize("disguise", ["\ufeff{}", "\ufeff{}\n\n# end"])
def test_a_bom_and_crlf_change_no_hash(read: Read, disguise: str) -> None:
    text = dataset("a", "b") + "    reference: |\n      one\n      two\n"
    hashes = {
        content_hash([case.content() for case in read(written)])
        for written in (text, disguise.format(text), text.replace("\n", "\r\n"), text.replace("\n", "\r"))
    }
    assert len(hashes) == 1


# -- ids -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "case_id",
    [
        "backup",
        "a/b:c..d|e",
        "../../etc/passwd",
        "two words",
        "a:b: c",
        "#1",
        "-",
        "~",
        "null",
        "012",
        "🦀 👩‍👩‍👧",
        "é",
        "e\u0301",
        "x" * 300,
        "[a](b)",
        "<b>&amp;",
        "%s{0}",
        '"',
        "a\u00a0b",
        "CON",
    ],
)
def test_an_id_is_kept_as_written(read: Read, case_id: str) -> None:
    quoted = case_id.replace("'", "''")
    assert [case.id for case in read(dataset(f"'{quoted}'"))] == [case_id]


def test_ids_that_differ_only_by_case_are_two(read: Read) -> None:
    assert [case.id for case in read(dataset("a", "A", "é", "É"))] == ["a", "A", "é", "É"]


@pytest.mark.parametrize(
    ("written", "problem"),
    [
        ('""', "case id '' is empty; give it a short name"),
        ('" "', "case id ' ' begins or ends with a space; remove it"),
        ('" a"', "case id ' a' begins or ends with a space; remove it"),
        ('"a "', "case id 'a ' begins or ends with a space; remove it"),
        ('"a\\u00a0"', "case id 'a\\xa0' begins or ends with a space; remove it"),
        ('"a\\n"', "case id 'a\\n' holds a control character; remove it"),
        ('"a\\tb"', "case id 'a\\tb' holds a control character; remove it"),
        ('"a\\0b"', "case id 'a\\x00b' holds a control character; remove it"),
        ('"a\\u2028b"', "case id 'a\\u2028b' holds a control character; remove it"),
        ('"a\\u0085b"', "case id 'a\\x85b' holds a control character; remove it"),
        ("a::b", "case id 'a::b' holds '::', which separates the parts of a test id; use another sign"),
    ],
)
def test_an_id_that_cannot_be_used_is_refused(problems: Problems, written: str, problem: str) -> None:
    assert problems(dataset("fine", written)) == [f"v1.yaml:5: {problem}"]


CONTROLS = [*map(chr, (*range(0x20), *range(0x7F, 0xA0))), "\u2028", "\u2029", "\ud800"]


@pytest.mark.parametrize("sign", CONTROLS, ids=ascii)
def test_no_control_character_is_part_of_an_id(sign: str) -> None:
    assert id_fault(f"a{sign}b") == "holds a control character; remove it"


def test_a_duplicate_id_names_both_places(problems: Problems) -> None:
    assert problems(dataset("backup", "other", "backup", "backup")) == [
        "v1.yaml:7: duplicate case id 'backup', first at v1.yaml:3; ids must be unique within a dataset",
        "v1.yaml:9: duplicate case id 'backup', first at v1.yaml:3; ids must be unique within a dataset",
    ]


def test_two_spellings_of_one_id_are_duplicates(problems: Problems) -> None:
    assert problems(dataset("backup", '"\\u0062ackup"')) == [
        "v1.yaml:5: duplicate case id 'backup', first at v1.yaml:3; ids must be unique within a dataset"
    ]


def test_the_number_1_beside_the_text_1_is_refused(problems: Problems) -> None:
    assert problems(dataset('"1"', "1")) == ["v1.yaml:5: cases[1].id: `1` is a number to YAML; quote it"]


@pytest.mark.parametrize(
    ("written", "problem"),
    [
        *((written, f"cases[0].id: {problem}") for written, problem in NO_TEXT),
        ("no", "`no` is false to YAML; write false, or put it in quotes if text is meant"),
        ("012", "`012` is 10 to YAML; write 10, or put it in quotes if text is meant"),
        (".nan", "`.nan` is not a usable number; put it in quotes if text is meant"),
        ("2026-11-30", "`2026-11-30` is a date to YAML; put it in quotes"),
    ],
)
def test_what_yaml_does_not_read_as_text_is_no_id(problems: Problems, written: str, problem: str) -> None:
    assert problems(dataset(written)) == [f"v1.yaml:3: {problem}"]


# -- the file --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        *((text, f"v1.yaml:1: {problem}") for text, problem in NO_MAPPING),
        ("version: 1\ncases: []\n", "v1.yaml:2: no cases; a dataset without cases measures nothing"),
        ("version: 1\ncases:\n", "v1.yaml:2: cases: input should be a list, found nothing"),
        ("version: 1\n", "v1.yaml:1: 'cases' is missing"),
        ("cases: [{id: a, input: b}]\n", "v1.yaml:1: 'version' is missing"),
        (
            "version: 1\ncases:\n  a:\n    input: b\n",
            "v1.yaml:2: cases: input should be a list, found a mapping",
        ),
        (
            "version: 0\ncases: [{id: a, input: b}]\n",
            "v1.yaml:1: version: input should be greater than or equal to 1, found `0`",
        ),
        (
            "version: 1\nrepeats: 0\ncases: [{id: a, input: b}]\n",
            "v1.yaml:2: repeats: input should be greater than or equal to 1, found `0`",
        ),
        (
            "version: 1\nrepeats: 101\ncases: [{id: a, input: b}]\n",
            "v1.yaml:2: repeats: input should be less than or equal to 100, found `101`",
        ),
        (
            "version: 1\nrepeats: 2.5\ncases: [{id: a, input: b}]\n",
            "v1.yaml:2: repeats: input should be a valid integer, found `2.5`",
        ),
        (
            "version: true\ncases: [{id: a, input: b}]\n",
            "v1.yaml:1: version: input should be a valid integer, found `true`",
        ),
        (
            "version: 1\ncass: []\ncases: [{id: a, input: b}]\n",
            "v1.yaml:2: unknown key 'cass'; did you mean 'cases'?",
        ),
        (
            dataset("a") + "    refrence: x\n",
            "v1.yaml:5: unknown key 'cases[0].refrence'; did you mean 'reference'?",
        ),
        (
            dataset("a", "b") + "    expected:\n      tools: []\n      page: [p]\n",
            "v1.yaml:9: unknown key 'cases[1].expected.page'; did you mean 'pages'?",
        ),
        ("version: 1\ncases:\n  - id: a\n", "v1.yaml:3: 'cases[0].input' is missing"),
        ("version: 1\ncases:\n  - input: a\n", "v1.yaml:3: 'cases[0].id' is missing"),
        (
            dataset("a") + "    expected: {pages: p}\n",
            "v1.yaml:5: cases[0].expected.pages: input should be a list, found 'p'",
        ),
        (
            dataset("a") + "    expected:\n      pages:\n        - p\n        - 12\n",
            "v1.yaml:8: cases[0].expected.pages[1]: `12` is a number to YAML; quote it",
        ),
        (
            dataset("a") + "    expected:\n",
            "v1.yaml:5: cases[0].expected: input should be a mapping, found nothing",
        ),
        (
            dataset("a") + "    reference: 2\n",
            "v1.yaml:5: cases[0].reference: `2` is a number to YAML; quote it",
        ),
        (
            dataset("a") + "\t- id: b\n",
            "v1.yaml:5: not YAML: found a tab character that violates indentation; "
            "indent with spaces, not with tabs",
        ),
    ],
)
def test_a_dataset_that_cannot_be_used_is_refused(problems: Problems, text: str, problem: str) -> None:
    assert problems(text) == [problem]
