"""Every command on a suite whose system is a function, and on one whose system is an endpoint."""

from __future__ import annotations

import json
import re

import pytest

from eval_pipeline.errors import RecordingMisses
from eval_pipeline_tests.boundary.suites import SECRET, write_endpoint_suite, write_function_suite
from eval_pipeline_tests.command_line import run_command
from eval_pipeline_tests.provider_replies import Say
from eval_pipeline_tests.provider_stub import ProviderStub


class Project:
    """A suite with what answers it, and the command line."""

    def __init__(self, toy, name, asked, stop):
        self.toy, self.name, self.asked, self.stop = toy, name, asked, stop

    def run(self, *arguments):
        return run_command(*arguments)


@pytest.fixture(params=["function", "endpoint"])
def project(request, tmp_path, monkeypatch):
    monkeypatch.setenv("EVAL_WAREHOUSE", str(tmp_path / "warehouse"))
    monkeypatch.setenv("EVAL_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.delenv("DAGSTER_HOME", raising=False)
    if request.param == "function":
        toy = write_function_suite(tmp_path)
        yield Project(toy, f"toy_system_{toy.number}:answer", lambda: None, lambda: None)
        return

    def answer(asked):
        return Say("An apple is red." if "apple" in asked.question else "You are welcome.")

    monkeypatch.setenv("BOUNDARY_AUTH", SECRET)
    with ProviderStub(answer) as stub:

        def stop():
            stub.stop()
            monkeypatch.delenv("BOUNDARY_AUTH")

        yield Project(
            write_endpoint_suite(tmp_path, stub.url),
            "http POST /v1/chat/completions",
            lambda: stub.calls,
            stop,
        )


def test_recorded_once_it_replays_with_nothing_running_and_no_key(project):
    recorded = project.run("run", "toy", "--record-mode", "new_episodes")
    assert (recorded.exit_code, "calm on small: every case passes" in recorded.stdout) == (0, True)
    assert f"system: {project.name}" in recorded.stdout
    assert project.asked() in (None, 2)
    project.stop()
    replayed = project.run("run", "toy")
    assert (replayed.exit_code, "calm on small: every case passes" in replayed.stdout) == (0, True)
    report = json.loads(project.run("report", "toy", "--candidate", "calm", "--format", "json").stdout)
    assert (report["key"]["model"], report["key"]["system"]) == (None, project.name)
    assert project.run("check").stdout == "toy: ok\n"


def test_nothing_recorded_names_the_system_and_the_command(project):
    result = project.run("run", "toy")
    assert result.exit_code == 4
    assert re.search(
        r"candidate 'calm' is not recorded: no call to system:\S+ is stored; record it", result.stderr
    )
    assert "not recorded: candidate calm" in project.run("check").stdout


def test_explain_replays_a_case_and_a_miss_says_what_changed(project):
    project.run("run", "toy", "--record-mode", "new_episodes")
    explained = project.run("explain", "toy", "--candidate", "calm", "--case", "apple").stdout
    assert "answer     An apple is red." in explained
    project.toy.edit("prompts/v1.md", "Look", "Please look")
    with pytest.raises(RecordingMisses) as misses:
        project.run("explain", "toy", "--candidate", "calm", "--case", "apple")
    assert re.search(r"apple \(agent\): prompt changed \(\w{12} → \w{12}\)", str(misses.value))
    assert "eval-pipeline run toy --candidate calm" in str(misses.value)


def test_ask_replays_a_recorded_question_and_asks_another_without_recording_it(project):
    project.run("run", "toy", "--record-mode", "new_episodes")
    assert "(1 replayed, 0 made)" in project.run("ask", "toy", "--candidate", "calm", "Thank you!").stdout
    asked = project.run("ask", "toy", "--candidate", "calm", "Is an apple good?").stdout
    assert "An apple is red." in asked
    assert "(0 replayed, 1 made)" in asked
    assert project.run("check").stdout == "toy: ok\n"


def test_an_answer_that_no_candidate_uses_any_more_is_pruned(project):
    project.run("run", "toy", "--record-mode", "new_episodes")
    project.toy.edit("datasets/small.yaml", "Thank you!", "Thanks!")
    project.run("run", "toy", "--record-mode", "new_episodes")
    assert "1 recorded calls are used by no candidate" in project.run("check").stdout
    assert project.run("recordings", "prune", "toy").stdout == "1 recorded calls removed\n"


def test_fresh_samples_leave_the_recordings_alone(project):
    project.run("run", "toy", "--record-mode", "new_episodes")
    before = {path: path.read_bytes() for path in (project.toy.suite / "recordings").rglob("*.jsonl")}
    assert project.run("run", "toy", "--record-mode", "all").exit_code == 0
    after = {path: path.read_bytes() for path in (project.toy.suite / "recordings").rglob("*.jsonl")}
    assert before == after
    assert project.asked() in (None, 4)
