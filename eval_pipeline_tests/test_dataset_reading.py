from pathlib import Path

import pytest

from eval_pipeline.suite_reading import read_suite
from eval_pipeline_tests.bad_yaml import NO_MAPPING
from eval_pipeline_tests.toy import FILES, SCORER, ToyFiles, line_of, write_toy


@pytest.fixture
def toy(tmp_path: Path) -> ToyFiles:
    return write_toy(tmp_path)


def test_a_dataset_is_read_with_its_documents_and_fixtures(toy: ToyFiles) -> None:
    [dataset] = read_suite(toy.suite).datasets.values()
    assert (dataset.name, dataset.version) == ("small", 1)
    assert [case.id for case in dataset.cases] == ["apple", "thanks"]
    assert [document.id for document in dataset.documents] == ["apple", "pear"]
    assert dataset.fixtures == {"prices": {"apple": 3, "pear": 4}}


def test_a_dataset_may_name_its_own_folders(toy: ToyFiles) -> None:
    toy.edit("datasets/small.yaml", "version: 1\n", "version: 1\ndocuments: other/pages\nfixtures: other\n")
    toy.write("other/pages/apple.md", "Red.")
    toy.write("other/table.yaml", "[1]")
    [dataset] = read_suite(toy.suite).datasets.values()
    assert [document.text for document in dataset.documents] == ["Red."]
    assert dataset.fixtures == {"table": [1]}


def test_the_usual_folders_may_be_missing(toy: ToyFiles) -> None:
    toy.edit("datasets/small.yaml", "pages: [apple]", "pages: []")
    (toy.suite / "documents").rename(toy.suite / "unused")
    (toy.suite / "fixtures").rename(toy.suite / "unread")
    [dataset] = read_suite(toy.suite).datasets.values()
    assert (dataset.documents, dataset.fixtures) == ((), {})


NOT_INSIDE = "is not a folder inside the suite's folder"


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        # Lines: 3 apple's id, 6 to 9 its expectations, 10 and 11 the id and input of thanks, 13 its tools.
        ("[apple]", "[aple]", "7: case 'apple': expected.pages: no page 'aple'; did you mean 'apple'?"),
        (
            "[apple]",
            "[apple, apple]",
            "7: case 'apple': expected.pages: page 'apple' is listed 2 times; list it once",
        ),
        (
            "[look_up]",
            "[lookup]",
            "8: case 'apple': expected.tools: no tool 'lookup'; did you mean 'look_up'?",
        ),
        ("tools: []", "tools: [zzz]", "13: case 'thanks': expected.tools: no tool 'zzz'; known: look_up"),
        ("words:", "wrods:", "9: unknown key 'cases[0].expected.wrods'; did you mean 'words'?"),
        ("Thank you!", "12", "11: case 'thanks': input `12` is not text; put the question in quotes"),
        ("Thank you!", "012", "11: `012` is 10 to YAML; write 10, or put it in quotes if text is meant"),
        ("Thank you!", "no", "11: `no` is false to YAML; write false, or put it in quotes if text is meant"),
        ("Thank you!", "2026-11-30", "11: `2026-11-30` is a date to YAML; put it in quotes"),
        (
            "Thank you!",
            "['Thank you!']",
            "11: case 'thanks': input `['Thank you!']` is not text; put the question in quotes",
        ),
        ("Thank you!", "' '", "11: case 'thanks': input is empty; write the question"),
        ("Thank you!", "", "11: case 'thanks': input `` is not text; put the question in quotes"),
        (
            "version: 1\n",
            "version: 1\ndocuments: page\n",
            "2: documents: no folder page; known: datasets, documents, fixtures, prompts",
        ),
        (
            "version: 1\n",
            "version: 1\ndocuments: docments\n",
            "2: documents: no folder docments; did you mean 'documents'?",
        ),
        ("version: 1\n", "version: 1\nfixtures: ../other\n", f"2: fixtures: '../other' {NOT_INSIDE}"),
        ("version: 1\n", "version: 1\nfixtures: /etc\n", f"2: fixtures: '/etc' {NOT_INSIDE}"),
        ("version: 1\n", "version: 1\nfixtures: .\n", f"2: fixtures: '.' {NOT_INSIDE}"),
        ("version: 1\n", "version: 1\nfixtures: ''\n", f"2: fixtures: '' {NOT_INSIDE}"),
    ],
)
def test_a_fault_in_a_dataset_names_line_value_and_remedy(
    toy: ToyFiles, old: str, new: str, problem: str
) -> None:
    toy.edit("datasets/small.yaml", old, new)
    assert toy.problems() == [f"datasets/small.yaml:{problem}"]


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        (
            "documents/apple.txt",
            "A",
            "documents/apple.txt: page id 'apple' is already that of documents/apple.md; rename one file",
        ),
        (
            "documents/more/apple.md",
            "A",
            "documents/more/apple.md: page id 'apple' is already that of documents/apple.md; rename one file",
        ),
        ("documents/pear.md", "", "documents/pear.md: the page is empty; write it or delete the file"),
        ("documents/pear.md", b"\xff", "documents/pear.md:1: byte 0xff is not UTF-8; save the file as UTF-8"),
        (
            "fixtures/prices.yaml",
            "",
            "fixtures/prices.yaml: the fixture is empty; write it or delete the file",
        ),
        (
            "datasets/large.json",
            "{}",
            "datasets/large.json: a dataset is a .yaml or .jsonl file; "
            "save it as large.yaml, or move it elsewhere",
        ),
        (
            "datasets/small.yml",
            FILES["datasets/small.yaml"],
            "datasets/small.yml: datasets small.yaml and small.yml are both 'small' in keys; rename one",
        ),
        *(("datasets/large.yaml", text, f"datasets/large.yaml:1: {problem}") for text, problem in NO_MAPPING),
        (
            "datasets/large.yaml",
            "version: 1\ncases: []\n",
            "datasets/large.yaml:2: no cases; a dataset without cases measures nothing",
        ),
        ("datasets/large.yaml/x", "", "datasets/large.yaml: cannot be read: Is a directory"),
        (
            f"datasets/{'x' * 101}.yaml",
            FILES["datasets/small.yaml"],
            f"datasets/{'x' * 101}.yaml: the dataset's name has 101 characters; use at most 100",
        ),
    ],
)
def test_a_fault_in_a_further_file_names_the_file_and_the_remedy(
    toy: ToyFiles, name: str, content: str | bytes, problem: str
) -> None:
    toy.write(name, content)
    assert toy.problems() == [problem]


def test_hidden_and_other_files_beside_the_datasets_are_passed_over(toy: ToyFiles) -> None:
    for name in (".draft.yaml", "._small.yaml", "README.md", "old/large.yaml"):
        toy.write(f"datasets/{name}", "not a dataset")
    assert [dataset.name for dataset in read_suite(toy.suite).datasets.values()] == ["small"]


def test_a_suite_without_a_dataset_is_refused(toy: ToyFiles) -> None:
    (toy.suite / "datasets/small.yaml").unlink()
    assert toy.problems() == ["datasets: no dataset; add datasets/<name>.yaml with its cases"]


def test_problems_of_a_shared_page_are_shown_once(toy: ToyFiles) -> None:
    toy.write("datasets/other.yaml", FILES["datasets/small.yaml"])
    toy.write("documents/pear.md", "")
    assert toy.problems() == ["documents/pear.md: the page is empty; write it or delete the file"]


def test_an_input_model_checks_every_input(toy: ToyFiles) -> None:
    old = "@dataclass(frozen=True)\nclass Toy"
    toy.edit_module("system", old, f"class Input(BaseModel):\n    turns: list[str]\n\n\n{old}")
    toy.edit("datasets/small.yaml", "What colour is an apple?", "{turns: [Hello, 12], turn: x}")
    assert toy.problems() == [
        "datasets/small.yaml:4: cases[0].input.turns[1]: `12` is a number to YAML; quote it",
        "datasets/small.yaml:4: unknown key 'cases[0].input.turn'; did you mean 'turns'?",
        "datasets/small.yaml:11: cases[1].input: input should be a mapping, found 'Thank you!'",
    ]


VALIDATOR = """words: list[str] = []

        @field_validator("words")
        @classmethod
        def _small(cls, words):
            if any(word != word.lower() for word in words):
                raise ValueError("words are small")
            return words
"""


def test_a_validator_of_a_scorer_s_expected_block_is_kept(toy: ToyFiles) -> None:
    toy.edit_module("scorer", "words: list[str] = []\n", VALIDATOR)
    toy.edit_module("scorer", "import BaseModel, ConfigDict", "import BaseModel, ConfigDict, field_validator")
    toy.edit("datasets/small.yaml", "words: [red]", "words: [Red]")
    assert toy.problems() == ["datasets/small.yaml:9: cases[0].expected.words: words are small"]


def test_a_scorer_may_require_a_key_of_every_case(toy: ToyFiles) -> None:
    toy.edit_module("scorer", "words: list[str] = []", "words: list[str]")
    assert toy.problems() == ["datasets/small.yaml:12: 'cases[1].expected.words' is missing"]
    toy.edit("datasets/small.yaml", "    expected:\n      tools: []\n", "")
    assert toy.problems() == ["datasets/small.yaml:10: 'cases[1].expected' is missing"]


def test_a_scorer_that_raises_over_a_case_is_shown_with_the_line_that_raised(toy: ToyFiles) -> None:
    path = toy.edit_module("scorer", "return []", "return [1 / 0]")
    cannot = (
        f"stage 'words' cannot check it: {path}:{line_of('return []', SCORER)}: "
        "ZeroDivisionError: division by zero"
    )
    assert toy.problems() == [
        f"datasets/small.yaml:3: case 'apple': {cannot}",
        f"datasets/small.yaml:10: case 'thanks': {cannot}",
    ]


MORE = """\
version: 2
includes: small
cases:
  - id: pear
    input: What colour is a pear?
    expected: {words: [green]}
"""


def test_a_dataset_may_include_the_cases_of_another(toy: ToyFiles) -> None:
    toy.write("datasets/more.yaml", MORE)
    toy.write("datasets/most.yaml", MORE.replace("small", "more").replace("pear", "pears"))
    more, most, small = read_suite(toy.suite).datasets.values()
    assert [case.id for case in more.cases] == ["apple", "thanks", "pear"]
    assert [case.id for case in most.cases] == ["apple", "thanks", "pear", "pears"]
    assert more.version == 2
    assert more.cases[:2] == small.cases
    assert more.cases_sha != small.cases_sha


def test_an_included_case_is_checked_against_the_pages_of_its_new_dataset(toy: ToyFiles) -> None:
    toy.write("datasets/more.yaml", MORE.replace("includes", "documents: other\nincludes"))
    toy.write("other/pear.md", "A pear is green.")
    assert toy.problems() == [
        "datasets/small.yaml:7: case 'apple': expected.pages: no page 'apple'; known: pear"
    ]


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("small", "smal", "more.yaml:2: includes: no dataset 'smal'; did you mean 'small'?"),
        (
            "small",
            "more",
            "more.yaml:2: includes: 'more' includes this dataset in turn; remove one of the two",
        ),
        (
            "id: pear",
            "id: apple",
            "more.yaml:4: case id 'apple' is also that of an included case, at datasets/small.yaml:3; "
            "rename one",
        ),
    ],
)
def test_what_cannot_be_included_is_refused(toy: ToyFiles, old: str, new: str, problem: str) -> None:
    toy.write("datasets/more.yaml", MORE.replace(old, new))
    assert toy.problems() == [f"datasets/{problem}"]
