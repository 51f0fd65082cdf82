"""The source that a function's recordings depend on, found without running any of it."""

import sys

import pytest

from eval_pipeline.boundary.sources import find_source
from eval_pipeline.errors import SuiteError


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A function to write files around; every module raises when imported."""
    root = tmp_path / "project"
    root.mkdir()
    monkeypatch.setattr(sys, "path", [str(root), *sys.path])

    def write(name, text):
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{text}\nraise RuntimeError('imported')\n", encoding="utf-8")

    return write


def files(module):
    return sorted(find_source(module, "suite.yaml:2: system").files)


def test_followed_are_the_project_s_own_imports_however_far_down(project):
    project(
        "bnd_agent.py", "import json, bnd_helpers\nfrom langchain import agents\nasync def answer(i): ..."
    )
    project("bnd_helpers.py", "def f():\n    from bnd_pkg.deep import thing")
    project("bnd_pkg/__init__.py", "")
    project("bnd_pkg/deep.py", "from . import beside\nfrom .more import *")
    project("bnd_pkg/beside.py", "")
    project("bnd_pkg/more.py", "")
    project("bnd_pkg/unused.py", "")
    project("bnd_other.py", "")
    assert files("bnd_agent") == [
        "bnd_agent.py",
        "bnd_helpers.py",
        "bnd_pkg/__init__.py",
        "bnd_pkg/beside.py",
        "bnd_pkg/deep.py",
        "bnd_pkg/more.py",
    ]
    assert not [name for name in sys.modules if name in ("bnd_agent", "bnd_helpers", "bnd_pkg")]


def test_a_module_in_a_package_depends_on_what_the_package_runs_first(project):
    project("bnd_pkg/__init__.py", "from .setup import x")
    project("bnd_pkg/setup.py", "from .. import nowhere")
    project("bnd_pkg/api.py", "import bnd_pkg")
    assert files("bnd_pkg.api") == ["bnd_pkg/__init__.py", "bnd_pkg/api.py", "bnd_pkg/setup.py"]


def test_an_edited_import_changes_the_hash_and_an_unused_module_does_not(project):
    project("bnd_agent.py", "import bnd_helpers")
    project("bnd_helpers.py", "x = 1")
    before = find_source("bnd_agent", "s").sha
    project("bnd_other.py", "x = 1")
    assert find_source("bnd_agent", "s").sha == before
    project("bnd_helpers.py", "x = 2")
    assert find_source("bnd_agent", "s").sha != before


def test_of_an_installed_package_only_the_package_is_followed():
    assert {name.partition("/")[0] for name in files("httpx")} == {"httpx"}


def test_a_module_that_imports_itself_in_a_circle_ends(project):
    project("bnd_a.py", "import bnd_b")
    project("bnd_b.py", "import bnd_a")
    assert files("bnd_a") == ["bnd_a.py", "bnd_b.py"]


@pytest.mark.parametrize("module", ["no_such_bnd", "json.no_such", "sys"])
def test_a_module_without_a_source_says_where_it_is_looked_for(module):
    with pytest.raises(
        SuiteError, match=f"suite.yaml:2: system: no source of module '{module}'; it is looked"
    ):
        find_source(module, "suite.yaml:2: system")


def test_a_syntax_error_is_shown_with_its_line(project):
    project("bnd_broken.py", "x = 1\ndef answer(:")
    with pytest.raises(SuiteError, match=r"bnd_broken.py:2: SyntaxError: invalid syntax"):
        find_source("bnd_broken", "suite.yaml:2: system")
