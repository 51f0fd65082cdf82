"""A turn now and after each change, until it is interrupted; the turns are small commands here."""

from __future__ import annotations

import sys

import pytest

from eval_pipeline.watching.loop import watch_files
from eval_pipeline.watching.watched_files import WatchedFiles
from eval_pipeline_tests.toy import write_toy


class Watched:
    """Runs the loop; at each pause it makes the next of `edits`, and after the last one it interrupts."""

    def __init__(self, root, edits, *, records=False):
        self.toy, self.edits, self.said = write_toy(root), list(edits), []
        self.turns = root / "turns"
        self.records = records

    def run(self, code: str) -> int:
        """How many turns were made; each appends a line to a file, then runs `code`."""
        first = f"open({str(self.turns)!r}, 'a').write('turn\\n')"
        command = [sys.executable, "-c", f"{first}\n{code.format(suite=self.toy.suite)}"]
        with pytest.raises(KeyboardInterrupt):
            watch_files(WatchedFiles(self.toy.suite), command, self.say, records=self.records)
        return len(self.turns.read_text().splitlines())

    def say(self, text: str) -> None:
        self.said.append(text.strip())
        if text.strip().startswith("watching for changes in /"):
            if not self.edits:
                raise KeyboardInterrupt
            self.toy.write(*self.edits.pop(0))


@pytest.fixture(autouse=True)
def own_path(monkeypatch):
    monkeypatch.setattr(sys, "path", [*sys.path])


def test_each_change_makes_a_turn_and_is_named(tmp_path):
    watched = Watched(tmp_path, [("prompts/v1.md", "one"), ("documents/plum.md", "A plum is blue.")])
    assert watched.run("") == 3
    assert [text for text in watched.said if text.startswith("changed")] == [
        "changed: data/toy/prompts/v1.md",
        "changed: data/toy/documents/plum.md",
    ]


@pytest.mark.parametrize(
    ("code", "told"),
    [("raise SystemExit(4)", []), ("import os; os.abort()", ["error: the run was ended by SIGABRT"])],
)
def test_a_turn_that_fails_waits_on(tmp_path, code, told):
    watched = Watched(tmp_path, [("prompts/v1.md", "one")])
    assert watched.run(code) == 2
    assert [text for text in watched.said if text.startswith("error")] == told * 2


def test_a_change_made_during_a_turn_makes_another_one(tmp_path):
    # The turn edits the prompt itself, as a person may who does not wait for its end.
    watched = Watched(tmp_path, [("prompts/v2.md", "afterwards")])
    assert watched.run("open('{suite}/prompts/v1.md', 'w').write('meanwhile')") == 2
    assert "changed: data/toy/prompts/v1.md, data/toy/prompts/v2.md" in watched.said


def test_what_a_turn_records_itself_is_no_change(tmp_path):
    code = (
        "import time, pathlib\n"
        "path = pathlib.Path('{suite}/recordings/m/calls.jsonl')\n"
        "path.parent.mkdir(parents=True, exist_ok=True)\n"
        "path.write_text(str(time.time_ns()))"
    )
    watched = Watched(tmp_path, [("prompts/v1.md", "one")], records=True)
    assert watched.run(code) == 2
    assert [text for text in watched.said if text.startswith("changed")] == [
        "changed: data/toy/prompts/v1.md"
    ]
