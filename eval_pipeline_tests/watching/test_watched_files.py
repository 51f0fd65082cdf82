"""Which files a watched suite follows from, and that a change of any of them ends the wait."""

from __future__ import annotations

import os
import sys
import threading
import time

import pytest

from eval_pipeline.errors import SuiteError
from eval_pipeline.watching.watched_files import WatchedFiles
from eval_pipeline_tests.toy import write_toy


@pytest.fixture
def toy(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", [*sys.path])
    return write_toy(tmp_path)


@pytest.fixture
def files(toy):
    return WatchedFiles(toy.suite)


def names(files: WatchedFiles, toy) -> set[str]:
    return {os.path.relpath(path, toy.root) for path in files.look() if path.is_relative_to(toy.root)}


def test_the_suites_files_count_and_the_modules_of_its_system_and_scorers(files, toy):
    modules = {f"toy_system_{toy.number}.py", f"toy_scorer_{toy.number}.py"}
    suite = {"suite.yaml", "datasets/small.yaml", "documents/apple.md", "documents/pear.md"}
    suite |= {"fixtures/prices.yaml", "prompts/v1.md"}
    assert names(files, toy) == modules | {f"data/toy/{name}" for name in suite}
    ours = {path.name for path in files.look() if not path.is_relative_to(toy.root)}
    assert {"tools.py", "retrieval.py"} <= ours  # the scorers of this package that the suite names


def test_what_a_module_imports_of_the_project_counts_also_when_it_is_broken(files, toy):
    (toy.root / "pages.py").write_text("HELP = 1\n")
    toy.edit_module(
        "system", "from dataclasses import dataclass", "import pages\nfrom dataclasses import dataclass"
    )
    assert "pages.py" in names(files, toy)
    (toy.root / "pages.py").write_text("HELP = \n")
    assert "pages.py" in names(files, toy)


def test_a_module_that_is_not_there_yet_is_seen_when_it_comes(files, toy):
    toy.edit("suite.yaml", f"toy_system_{toy.number}", "agents.soon")
    before = files.look()
    (toy.root / "agents").mkdir()
    (toy.root / "agents" / "soon.py").write_text("")
    assert files.changed(before, files.look()) == ["agents/soon.py"]


def test_modules_stay_watched_while_the_suite_file_is_broken(files, toy):
    files.look()
    toy.write("suite.yaml", "system: [")
    assert f"toy_scorer_{toy.number}.py" in names(files, toy)


def test_what_editors_python_and_recording_processes_leave_behind_is_no_change(files, toy):
    before = files.look()
    for name in (
        "prompts/.v1.md.swp",
        "prompts/v1.md~",
        "recordings/m/journal-1.jsonl",
        "recordings/m/.lock",
    ):
        toy.write(name, "x")
    toy.write("__pycache__/a.pyc", "x")
    assert files.changed(before, files.look()) == []
    recorded = toy.write("recordings/m/calls.jsonl", "x")
    assert files.changed(before, files.look()) == ["data/toy/recordings/m/calls.jsonl"]
    assert files.is_recording(recorded)


@pytest.mark.parametrize("place", ["prompts/v1.md", "documents/new/plum.md", "a module", "replaced"])
def test_the_wait_ends_with_a_change(files, toy, place):
    def change():
        time.sleep(0.3)
        if place == "a module":
            toy.edit_module("scorer", "version: ClassVar[int] = 1", "version: ClassVar[int] = 2")
        elif place == "replaced":  # as editors do it: a new file is moved over the old one
            os.replace(toy.write("prompts/.new", "other"), toy.suite / "prompts/v1.md")
        else:
            toy.write(place, "other")

    before = files.look()
    editor = threading.Thread(target=change)
    editor.start()
    now = files.wait(before)
    editor.join()
    (changed,) = files.changed(before, now)
    assert changed.endswith(
        {"a module": f"toy_scorer_{toy.number}.py", "replaced": "v1.md"}.get(place, place)
    )


def test_a_folder_that_is_no_suite_is_refused_with_the_nearest(toy):
    with pytest.raises(SuiteError, match=r"no suite 'toi'; did you mean 'toy'\?"):
        WatchedFiles(toy.data / "toi")
