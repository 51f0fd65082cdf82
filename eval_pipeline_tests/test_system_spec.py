import sys
from pathlib import Path

import pytest

from eval_pipeline.errors import SuiteError
from eval_pipeline.suite_reading import read_suite
from eval_pipeline.system_spec import load_system, source_hash
from eval_pipeline_tests.toy import SYSTEM, ToyFiles, line_of, write_toy


@pytest.fixture
def toy(tmp_path: Path) -> ToyFiles:
    return write_toy(tmp_path)


def test_a_system_is_what_its_module_offers(toy: ToyFiles) -> None:
    system = read_suite(toy.suite).system
    assert (system.module, system.input) == (f"toy_system_{toy.number}", None)
    assert system.tools == {"look_up"}
    assert system.parameters is not None
    assert system.parameters().model_dump() == {"shout": False}


def test_only_build_is_required_of_a_system(toy: ToyFiles) -> None:
    path = toy.root / f"toy_system_{toy.number}.py"
    path.write_text("def build(context): ...\n", encoding="utf-8")
    toy.edit("suite.yaml", "    parameters: {shout: true}\n", "")
    toy.edit("datasets/small.yaml", "[look_up]", "[anything]")  # tools that are not declared are not checked
    system = read_suite(toy.suite).system
    assert (system.tools, system.parameters, system.input) == (frozenset(), None, None)


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("def build(", "def make(", " has no function build(context) -> System"),
        (
            '("look_up",)',
            '("look_up")',
            ": TOOLS is 'look_up', not a tuple of names such as ('search_docs',)",
        ),
        ('("look_up",)', "(1,)", ": TOOLS is (1,), not a tuple of names such as ('search_docs',)"),
        ("class Parameters(BaseModel)", "class Parameters", ": Parameters is not a pydantic model"),
        (
            "class Parameters(BaseModel)",
            "Input = 1\n\n\nclass Parameters(BaseModel)",
            ": Input is not a pydantic model",
        ),
    ],
)
def test_a_system_that_offers_something_else_is_refused(
    toy: ToyFiles, old: str, new: str, problem: str
) -> None:
    toy.edit_module("system", old, new)
    assert toy.problems() == [f"suite.yaml:2: system 'toy_system_{toy.number}'{problem}"]


def test_a_system_that_raises_at_import_is_shown_with_the_line_that_raised(toy: ToyFiles) -> None:
    path = toy.edit_module("system", '("look_up",)', "1 / 0")
    assert toy.problems() == [
        f"suite.yaml:2: system 'toy_system_{toy.number}' cannot be imported: "
        f"{path}:{line_of('TOOLS', SYSTEM)}: ZeroDivisionError: division by zero"
    ]


@pytest.mark.parametrize(
    ("statement", "problem"),
    [
        ("import no_such_module", "ModuleNotFoundError: No module named 'no_such_module'"),
        ("raise SystemExit(2)", "SystemExit: 2"),
        ("def build(:", "SyntaxError: invalid syntax"),
    ],
)
def test_whatever_a_system_does_at_import_is_a_problem_of_its_suite(
    toy: ToyFiles, statement: str, problem: str
) -> None:
    path = toy.root / f"toy_system_{toy.number}.py"
    path.write_text(f'"""Broken."""\n{statement}\n', encoding="utf-8")
    assert toy.problems() == [
        f"suite.yaml:2: system 'toy_system_{toy.number}' cannot be imported: {path}:2: {problem}"
    ]


@pytest.mark.parametrize(
    ("name", "missing"), [("no_such", "no_such"), ("json.no_such", "json.no_such"), ("no.such", "no")]
)
def test_a_module_that_does_not_exist_says_where_it_is_looked_for(name: str, missing: str) -> None:
    with pytest.raises(SuiteError) as refusal:
        load_system(name, "suite.yaml:2")
    assert str(refusal.value) == (
        f"suite.yaml:2: system {name!r} cannot be imported: no module {missing!r}; "
        "it is looked for on PYTHONPATH and beside the data folder"
    )


def test_the_code_hash_covers_the_module_s_source(toy: ToyFiles, tmp_path: Path) -> None:
    other = write_toy(tmp_path / "other")
    other.edit_module("system", "You are welcome.", "Not at all.")
    systems = [read_suite(files.suite).system for files in (toy, other)]
    assert systems[0].code_sha != systems[1].code_sha


def test_the_code_hash_of_a_package_covers_every_module_and_imports_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "toy_package"
    (package / "deep").mkdir(parents=True)
    (package / "__init__.py").write_text("def build(context): ...\n", encoding="utf-8")
    inner = package / "deep/inner.py"
    inner.write_text("raise RuntimeError\n", encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    before = load_system("toy_package", "suite.yaml:2").code_sha
    assert [name for name in sys.modules if name.startswith("toy_package")] == ["toy_package"]
    inner.write_text("raise ValueError\n", encoding="utf-8")
    assert source_hash(sys.modules["toy_package"]) != before
