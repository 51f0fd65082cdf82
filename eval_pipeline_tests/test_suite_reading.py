import asyncio
import re
from pathlib import Path
from typing import Any

import pytest

from eval_pipeline.errors import InputError, SuiteError
from eval_pipeline.problems import SHOWN
from eval_pipeline.suite_reading import BrokenSuite, find_suite, find_suites, read_suite
from eval_pipeline.suites import Suite
from eval_pipeline.system_spec import SystemContext
from eval_pipeline_tests.bad_yaml import NO_MAPPING
from eval_pipeline_tests.toy import ToyFiles, write_toy

DATA = Path(__file__).parent.parent / "data"


@pytest.fixture
def toy(tmp_path: Path) -> ToyFiles:
    return write_toy(tmp_path)


# -- one suite -------------------------------------------------------------------------------------------


def test_a_suite_is_read_from_its_files(toy: ToyFiles) -> None:
    suite = read_suite(toy.suite)
    assert (suite.name, suite.folder, suite.description) == ("toy", toy.suite, "A toy that looks pages up.")
    assert [stage.name for stage in suite.stages] == ["tools", "retrieval", "words"]
    assert [candidate.name for candidate in suite.candidates.values()] == ["calm", "loud"]
    assert [dataset.name for dataset in suite.datasets.values()] == ["small"]


def test_the_suites_that_ship_are_fine() -> None:
    assert [found.error for found in find_suites(DATA) if isinstance(found, BrokenSuite)] == []


def test_the_toy_system_answers(toy: ToyFiles) -> None:
    suite = read_suite(toy.suite)
    [dataset] = suite.datasets.values()
    assert suite.system.parameters is not None
    models: Any = None  # it asks no model
    context = SystemContext("", suite.system.parameters(), dataset.documents, dataset.fixtures, models)
    system = suite.system.build(context)
    answers = [asyncio.run(system.run(case)).answer for case in dataset.cases]
    assert answers == ["An apple is red.", "You are welcome."]


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("stages:\n", "stagse: 1\nstages:\n", "3: unknown key 'stagse'; did you mean 'stages'?"),
        ("system: ", "systems: ", "1: 'system' is missing"),
        ("system: toy", "system: ../toy", "2: system: '../toy_system_{n}' is not "
         "'package.module' or 'package.module:function'"),
        ("A toy that looks pages up.", "[a]", "1: description: input should be a valid string, found a list"),
        ("A toy that looks pages up.", "off",
         "1: `off` is false to YAML; write false, or put it in quotes if text is meant"),
        ("stages:\n", "\tstages:\n", "3: not YAML: found a tab character that violates indentation; "
         "indent with spaces, not with tabs"),
        ("A toy that looks pages up.", "&d [*d]", "1: an anchor that contains itself; write the value out"),
        ("A toy that looks pages up.", "[" * 101 + "]" * 101,
         "1: nested more than 100 levels deep; make it flatter"),
    ],
)  # fmt: skip
def test_a_fault_in_the_suite_s_file_names_line_value_and_remedy(
    toy: ToyFiles, old: str, new: str, problem: str
) -> None:
    toy.edit("suite.yaml", old, new)
    assert toy.problems()[0] == f"suite.yaml:{problem.replace('{n}', str(toy.number))}"


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        *((text, f"suite.yaml:1: {problem}") for text, problem in NO_MAPPING),
        (b"\xff\xfe", "suite.yaml:1: byte 0xff is not UTF-8; save the file as UTF-8"),
    ],
)
def test_a_file_that_is_no_suite_is_refused(toy: ToyFiles, content: str | bytes, problem: str) -> None:
    toy.write("suite.yaml", content)
    assert toy.problems() == [problem]


def test_a_suite_without_stages_or_candidates_is_refused(toy: ToyFiles) -> None:
    toy.write("suite.yaml", "system: toy\nstages: []\ncandidates: {}\n")
    assert toy.problems() == [
        "suite.yaml:2: stages: list should have at least 1 item after validation, not 0, found []",
        "suite.yaml:3: candidates: dictionary should have at least 1 item after validation, not 0, found {}",
    ]


def test_one_look_shows_the_problems_of_the_system_and_the_stages(toy: ToyFiles) -> None:
    toy.edit("suite.yaml", "system: toy", "system: no")
    toy.edit("suite.yaml", "RetrievalById", "RetrievalByID")
    assert [problem.partition(": ")[0] for problem in toy.problems()] == ["suite.yaml:2", "suite.yaml:7"]


def test_one_look_shows_the_problems_of_datasets_pages_fixtures_and_candidates(toy: ToyFiles) -> None:
    toy.edit("suite.yaml", "{shout: true}", "{shout: 2}")
    toy.edit("datasets/small.yaml", "tools: []", "tools: [zzz]")
    toy.write("datasets/worse.yaml", "")
    toy.write("fixtures/prices.yaml", "")
    assert toy.problems() == [
        "datasets/worse.yaml:1: the file is empty",
        "fixtures/prices.yaml: the fixture is empty; write it or delete the file",
        "datasets/small.yaml:13: case 'thanks': expected.tools: no tool 'zzz'; known: look_up",
        "suite.yaml:18: candidates.loud.parameters.shout: input should be a valid boolean, found `2`",
    ]


def test_only_so_many_problems_are_shown(toy: ToyFiles) -> None:
    cases = "".join(f"  - {{id: c{i}, input: Why?, expected: {{tools: [zzz]}}}}\n" for i in range(SHOWN + 7))
    toy.write("datasets/small.yaml", f"version: 1\ncases:\n{cases}")
    problems = toy.problems()
    assert (len(problems), problems[-1]) == (SHOWN + 1, "and more problems: mend these first")


def test_a_suite_s_error_is_its_problems_one_a_line(toy: ToyFiles) -> None:
    toy.edit("suite.yaml", "{shout: true}", "{shout: 2, shuot: 1}")
    with pytest.raises(InputError) as refusal:
        read_suite(toy.suite)
    assert str(refusal.value).splitlines() == list(refusal.value.problems)
    assert len(refusal.value.problems) == 2


# -- several suites --------------------------------------------------------------------------------------


def test_a_broken_suite_shows_its_error_and_the_other_one_loads(toy: ToyFiles) -> None:
    toy.write("../broken/suite.yaml", "system: [")
    first, second = find_suites(toy.data)
    assert isinstance(first, BrokenSuite)
    assert (first.name, first.folder) == ("broken", toy.data / "broken")
    assert str(first.error) == (
        f"{toy.data}/broken/suite.yaml:1: not YAML: did not find expected node content; "
        "look at the indentation, the quotes and the brackets here"
    )
    assert isinstance(second, Suite)
    assert second.name == "toy"


def test_whatever_a_suite_s_code_raises_leaves_the_others_alone(toy: ToyFiles, tmp_path: Path) -> None:
    old = "    shout: bool = False\n"
    path = toy.edit_module(
        "system", old, f"{old}\n    def model_post_init(self, context):\n        {{}}['x']\n"
    )
    other = write_toy(tmp_path / "other")
    other.suite.rename(toy.data / "well")
    for module in other.root.glob("*.py"):
        module.rename(toy.root / module.name)
    first, second = find_suites(toy.data)
    assert isinstance(first, BrokenSuite)
    assert re.fullmatch(rf"{toy.suite}: cannot be read: {path}:\d+: KeyError: 'x'", str(first.error))
    assert isinstance(second, Suite)


@pytest.mark.parametrize("name", ["my suite", "my-suite", "1st", "süß", "a.b"])
def test_a_folder_name_that_is_no_name_is_refused(toy: ToyFiles, name: str) -> None:
    toy.suite.rename(toy.data / name)
    [broken] = find_suites(toy.data)
    assert isinstance(broken, BrokenSuite)
    assert str(broken.error) == (
        f"{toy.data / name}: a suite's folder is named with letters, digits and '_', and no digit first; "
        "rename it"
    )
    assert re.fullmatch(r"[A-Za-z0-9_]+", broken.name)


def test_no_broken_suite_takes_the_name_of_another(toy: ToyFiles) -> None:
    for name in ("to y", "to-y", "to_y"):
        toy.write(f"../{name}/suite.yaml", "")
    names = [found.name for found in find_suites(toy.data)]
    assert len(set(names)) == 4
    assert names[2:] == ["to_y", "toy"]
    assert all(re.fullmatch(r"to_y_[0-9a-f]{6}", name) for name in names[:2])


def test_hidden_folders_and_folders_without_a_suite_file_are_no_suites(toy: ToyFiles) -> None:
    toy.write("../.trash/suite.yaml", "")
    toy.write("../notes/README.md", "")
    assert [found.name for found in find_suites(toy.data)] == ["toy"]


def test_a_suite_file_with_the_other_ending_is_not_passed_over(toy: ToyFiles) -> None:
    (toy.suite / "suite.yaml").rename(toy.suite / "suite.yml")
    assert toy.problems() == ["suite.yml: rename it to suite.yaml"]
    assert [type(found) for found in find_suites(toy.data)] == [BrokenSuite]


def test_a_suite_is_found_by_name(toy: ToyFiles) -> None:
    assert find_suite(toy.data, "toy").name == "toy"


@pytest.mark.parametrize(
    ("name", "remedy"),
    [
        ("tpy", "; did you mean 'toy'?"),
        ("zzz", "; known: toy"),
        ("", "; known: toy"),
        ("../toy", "; did you mean 'toy'?"),
    ],
)
def test_an_unknown_suite_is_answered_with_the_known_ones(toy: ToyFiles, name: str, remedy: str) -> None:
    with pytest.raises(SuiteError) as refusal:
        find_suite(toy.data, name)
    assert str(refusal.value) == f"{toy.data}: no suite {name!r}{remedy}"


def test_a_data_folder_without_suites_says_how_to_name_another(tmp_path: Path) -> None:
    assert find_suites(tmp_path / "none") == []
    with pytest.raises(SuiteError) as refusal:
        find_suite(tmp_path, "toy")
    assert str(refusal.value) == f"{tmp_path}: no suite 'toy'; set EVAL_DATA to the folder that holds suites"
