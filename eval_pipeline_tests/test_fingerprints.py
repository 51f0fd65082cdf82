"""Fingerprints change with exactly the code that they stand for."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

from eval_pipeline import fingerprints
from eval_pipeline.fingerprints import SHOWN_ONLY, score_code, trace_code
from eval_pipeline.suite_reading import read_suite
from eval_pipeline_tests.toy import write_toy

PACKAGE = Path(fingerprints.__file__).parent
RUN_THROUGH = ("scorers", "systems", "models", "recordings", "boundary", "agent_runs.py", "stages.py")


@pytest.fixture
def toy(tmp_path, monkeypatch):
    monkeypatch.setattr("sys.dont_write_bytecode", True)
    return write_toy(tmp_path)


def as_new_process(toy) -> None:
    for kind in ("system", "scorer"):
        module = f"toy_{kind}_{toy.number}"
        sys.modules.pop(module, None)
        fingerprints.forget(module)


def codes(toy) -> tuple[str | None, dict[str, str | None]]:
    suite = read_suite(toy.suite)
    return trace_code(suite.system), {stage.name: score_code(stage) for stage in suite.stages}


def test_an_edited_system_changes_the_code_of_traces_alone(toy):
    trace, scores = codes(toy)
    toy.edit_module("system", "You are welcome.", "Welcome.")
    as_new_process(toy)
    assert codes(toy)[0] not in (trace, None)
    assert codes(toy)[1] == scores


def test_an_edited_scorer_changes_the_code_of_its_stage_alone(toy):
    trace, scores = codes(toy)
    toy.edit_module("scorer", "'none'", "'nothing'")
    as_new_process(toy)
    changed = codes(toy)
    assert changed[0] == trace
    assert {name for name, code in changed[1].items() if code != scores[name]} == {"words"}


def test_an_edited_schema_changes_the_code_of_the_stage_that_names_it(toy):
    scorer = "eval_pipeline.scorers.structured:MatchesSchema"
    schema = f"toy_system_{toy.number}:Parameters"
    named = f'  - {{name: fits, scorer: "{scorer}", parameters: {{schema: "{schema}"}}}}'
    toy.edit("suite.yaml", "candidates:\n", f"{named}\ncandidates:\n")
    _, scores = codes(toy)
    toy.edit_module("system", "You are welcome.", "Welcome.")
    as_new_process(toy)
    changed = codes(toy)[1]
    assert {name for name, code in changed.items() if code != scores[name]} == {"fits"}
    assert None not in changed.values()


def test_a_module_that_the_system_imports_is_part_of_its_code(toy):
    helper = toy.root / f"toy_helper_{toy.number}.py"
    helper.write_text("WELCOME = 1\n")
    toy.edit_module("system", "TOOLS =", f"import toy_helper_{toy.number}\n\nTOOLS =")
    before = codes(toy)[0]
    helper.write_text("WELCOME = 2\n")
    as_new_process(toy)
    assert codes(toy)[0] not in (before, None)


def test_code_edited_after_its_import_is_nobodys(toy):
    codes(toy)
    toy.edit_module("system", "You are welcome.", "Welcome.")
    assert codes(toy)[0] is None


def test_another_version_of_anything_installed_changes_all_of_it(toy, monkeypatch):
    trace, scores = codes(toy)
    monkeypatch.setattr(fingerprints, "_installed", lambda: "another")
    monkeypatch.setitem(fingerprints._FIRST_SEEN, "installed", "another")
    changed = codes(toy)
    assert changed[0] != trace
    assert all(changed[1][name] != code for name, code in scores.items())


def test_what_runs_and_scores_imports_nothing_that_only_shows_results():
    paths = [PACKAGE / name for name in RUN_THROUGH]
    files = [path for top in paths for path in (top.rglob("*.py") if top.is_dir() else [top])]
    assert len(files) > 50
    shown = tuple(f"eval_pipeline.{name}" for name in SHOWN_ONLY)
    for file in files:
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.ImportFrom):
                assert not (node.module or "").startswith(shown), f"{file}:{node.lineno}"
