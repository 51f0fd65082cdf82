"""`eval-pipeline watch` as somebody uses it: in a process, over files that are edited meanwhile."""

from __future__ import annotations

import os
import queue
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

from eval_pipeline.agent_runs import run_cell
from eval_pipeline.cli import app
from eval_pipeline.recordings import Recordings
from eval_pipeline.suite_reading import find_suite
from eval_pipeline_tests.docs_suite import DocsSuite
from eval_pipeline_tests.live_suite import LiveSuite, search_then_repeat
from eval_pipeline_tests.provider_stub import ProviderStub
from eval_pipeline_tests.scripted import ScriptedConnector
from eval_pipeline_tests.toy import write_toy

EVAL = str(Path(sys.executable).parent / "eval-pipeline")
PAUSE = "; Ctrl-C ends"


def record_all(suite: DocsSuite) -> None:
    found = find_suite(suite.data_root, "docs")
    for cell in found.cells:
        run_cell(
            found, cell, lambda: Recordings(found.recordings, "new_episodes"), connector=ScriptedConnector()
        )


def once(root, monkeypatch, *arguments):
    monkeypatch.setenv("EVAL_DATA", str(root / "data"))
    monkeypatch.setenv("EVAL_WAREHOUSE", str(root / "warehouse"))
    monkeypatch.delenv("DAGSTER_HOME", raising=False)
    return CliRunner().invoke(app, ["watch", "docs", "--once", *arguments])


def test_a_turn_runs_what_replays_and_says_what_changed_since_it_was_stored(tmp_path, monkeypatch):
    suite = DocsSuite(tmp_path)
    suite.run("new_episodes")
    first = once(tmp_path, monkeypatch)
    assert first.exit_code == 0, first.stderr
    # Seventeen checks: tools of ten cases, retrieval of the seven that expect pages.
    assert "  traces  10: 10 replayed\n" in first.stdout
    assert "  checks  17: 17 replayed\n" in first.stdout
    assert "since" not in first.stdout
    again = once(tmp_path, monkeypatch)
    (line,) = again.stdout.splitlines()
    assert line.startswith("scripted@")
    assert " on docs-assistant@" in line
    suite.edit("datasets/docs-assistant.yaml", "tools: [search_docs]", "tools: [get_issue]")
    edited = once(tmp_path, monkeypatch).stdout
    assert "  traces  10: 10 carried over\n" in edited
    assert "since scripted@" in edited
    assert "edited cases, not counted (" in edited


def test_a_turn_never_calls_unasked_but_says_what_a_call_would_take(tmp_path, monkeypatch):
    suite = DocsSuite(tmp_path)
    suite.run("new_episodes")
    suite.edit("prompts/v1.md", "three", "two")
    turn = once(tmp_path, monkeypatch, "--dataset", "docs-assistant")
    assert turn.exit_code == 3
    assert "  traces  10: 10 to call\n" in turn.stdout
    assert "prompt v1 changed (" in turn.stdout
    last = turn.stdout.splitlines()[-1]
    assert last.startswith("not run: ")
    assert last.endswith("eval-pipeline watch docs --dataset docs-assistant --record-mode new_episodes")
    assert not list((tmp_path / "warehouse").glob("traces/**/*.parquet"))


def two_candidates(suite: DocsSuite) -> None:
    """A second candidate that asks the same first questions, and is told of one page in place of three."""
    one = "    prompt: v1\n"
    more = "  k1:\n    model: openai:scripted\n    embedder: openai:scripted-embedder\n" + one
    suite.edit("suite.yaml", one, f"{one}    parameters: {{k: 3}}\n{more}    parameters: {{k: 1}}\n")


def test_a_turn_runs_no_cell_that_waits_for_the_answers_of_another(tmp_path, monkeypatch):
    suite = DocsSuite(tmp_path)
    two_candidates(suite)
    record_all(suite)
    suite.edit("prompts/v1.md", "three", "two")
    turn = once(tmp_path, monkeypatch)
    assert turn.exit_code == 3
    assert "error" not in turn.stderr
    assert "\nnot run: at least 10, about 19 calls and up to " in turn.stdout


def test_a_turn_runs_a_cell_that_replays_though_one_above_it_waits(tmp_path, monkeypatch):
    suite = DocsSuite(tmp_path)
    cases = (suite.folder / "datasets" / "docs-assistant.yaml").read_text()
    (suite.folder / "datasets" / "wide.yaml").write_text(cases)
    record_all(suite)
    new = "cases:\n  - {id: new, input: Hello?, expected: {tools: []}}\n"
    suite.edit("datasets/docs-assistant.yaml", "cases:\n", new)
    turn = once(tmp_path, monkeypatch)
    assert turn.exit_code == 3
    # Ten rows that the first dataset would make too; but it waits for an answer, and does not make them.
    assert "  traces  11: 10 replayed, 1 to call\n" in turn.stdout
    assert "  traces  10: 10 replayed\n" in turn.stdout
    assert "  cases   10: " in turn.stdout
    assert "\nnot run: " in turn.stdout


class Watching:
    """The command in a process, read line by line."""

    def __init__(self, environment, *arguments):
        self.process = subprocess.Popen(
            [EVAL, "watch", *arguments],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            # Whoever is started in the background ignores Ctrl-C, and so do its children.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        )
        self._lines: queue.Queue[str] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            self._lines.put(line)
        self._lines.put("")

    def until(self, end: str) -> str:
        """What it prints up to a line that holds `end`."""
        said: list[str] = []
        while not said or end not in said[-1]:
            said.append(self._lines.get(timeout=90))
            assert said[-1], f"it ended without {end!r}:\n{''.join(said)}"
        return "".join(said)

    def end(self, number=signal.SIGINT) -> int:
        self.process.send_signal(number)
        return self.process.wait(timeout=30)

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


def environment_of(root):
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("DAGSTER", "EVAL_"))}
    return {**kept, "EVAL_DATA": str(root / "data"), "EVAL_WAREHOUSE": str(root / "warehouse")}


@pytest.mark.slow
def test_edits_take_effect_errors_are_waited_out_and_ctrl_c_ends_it(tmp_path):
    toy = write_toy(tmp_path)
    with Watching(environment_of(tmp_path), "toy", "--candidate", "loud") as watching:
        # `loud` says RED, which the scorer does not take for red.
        assert "cases   2: 1 passed, 1 failed" in watching.until(PAUSE)

        toy.edit_module("system", "answer.upper()", "answer.lower()")
        mended = watching.until(PAUSE)
        assert f"changed: toy_system_{toy.number}.py" in mended
        assert "code, an installed package or the model's server changed (no call): 2" in mended
        assert "since its last run:" in mended
        assert "none worse, 1 better of 2: could be chance" in mended
        assert "RED" in mended

        toy.edit_module("scorer", "class SaysWords:", "class SaysWords")
        broken = watching.until(PAUSE)
        assert "error: " in broken
        assert "SyntaxError" in broken
        toy.edit_module("scorer", "class SaysWords", "class SaysWords:")
        assert "cases 2: 2 passed" in watching.until(PAUSE)

        text = (toy.suite / "suite.yaml").read_text()
        toy.write("suite.yaml", text.replace("threshold: 0.5", "treshold: 0.5"))
        assert "treshold" in watching.until(PAUSE)
        toy.write("suite.yaml", text)
        assert "loud@" in watching.until(PAUSE)

        toy.edit("prompts/v1.md", "Look", "Please look")
        edited = watching.until(PAUSE)
        assert "since loud@" in edited
        assert "more: eval-pipeline diff toy loud@" in edited
        assert watching.end() == 130
        assert "Traceback" not in watching.until("ended")


@pytest.mark.slow
def test_what_it_records_itself_starts_no_turn_and_ending_it_keeps_what_was_answered(tmp_path):
    with ProviderStub(search_then_repeat) as stub:
        suite = LiveSuite(tmp_path, stub, cases=3)
        environment = suite.environment(OPENAI_API_KEY="stub")
        with Watching(environment, "docs", "--record-mode", "new_episodes") as watching:
            first = watching.until(PAUSE)
            # Two chats and a search for each question, of which nothing was known; the pages come first.
            assert "planned 0 to 3 or more calls, made 9; 10 pages to embed, 10 embedded" in first
            calls = len(stub.asked)
            suite.edit("prompts/v1.md", "three", "two")
            second = watching.until(PAUSE)
            # The first change that is seen is the edit, though the first turn wrote recordings.
            assert second.split("changed: ")[1].startswith("data/docs/prompts/v1.md\n")
            assert "no answer changed in 3 cases" in second
            # Two chats for each of three questions; what was embedded stays.
            assert len(stub.asked) == calls + 6
            stub.latency_s = 20
            suite.edit("prompts/v1.md", "two", "four")
            latest = time.monotonic() + 60
            while not stub.in_flight and time.monotonic() < latest:
                time.sleep(0.1)
            assert stub.in_flight == 3
            assert watching.end(signal.SIGTERM) == 130
