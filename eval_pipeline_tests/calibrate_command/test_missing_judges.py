"""`calibrate` where a judge is not recorded or cannot be reached, alone and beside another."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from eval_pipeline.cli import app, main
from eval_pipeline_tests.command_line import evaluate_in
from eval_pipeline_tests.judged_suite import JudgedSuite
from eval_pipeline_tests.provider_replies import Status
from eval_pipeline_tests.provider_stub import ProviderStub


def test_a_judge_that_was_never_calibrated_is_one_line_with_the_command(tmp_path, monkeypatch, capsys):
    suite = JudgedSuite(tmp_path)
    evaluate_in(monkeypatch, suite.data_root, tmp_path / "warehouse")
    monkeypatch.setattr("sys.argv", ["eval-pipeline", "calibrate", "docs"])
    with pytest.raises(SystemExit) as caught:
        main()
    assert caught.value.code == 4
    told = [line for line in capsys.readouterr().err.splitlines() if line.startswith("error: ")]
    assert len(told) == 1
    assert told[0].endswith("eval-pipeline calibrate docs --judge openai:judge --record-mode new_episodes")


def test_a_judge_that_is_not_recorded_does_not_keep_another_from_being_shown(tmp_path, monkeypatch):
    suite = JudgedSuite(tmp_path)
    suite.calibrate("new_episodes")
    suite.edit("suite.yaml", "name: openai:judge", "name: openai:another")  # the suite's own
    own = "    judge: {name: openai:judge, settings: {temperature: 0.4, seed: 7}}"
    second = (
        "  own-judge:\n    model: openai:scripted\n    embedder: openai:scripted-embedder\n    prompt: v1"
    )
    suite.edit("suite.yaml", "candidates:\n", f"candidates:\n{second}\n{own}\n")
    evaluate_in(monkeypatch, suite.data_root, tmp_path / "warehouse")
    found = CliRunner().invoke(app, ["calibrate", "docs"])
    assert found.exit_code == 0
    assert "one case: eval-pipeline explain docs --judge openai:judge --case ID" in found.stdout
    # One line for the other, and none for each of its calls.
    told = [line for line in found.stderr.splitlines() if "openai:another" in line]
    assert len(told) == 1
    assert told[0].endswith("eval-pipeline calibrate docs --judge openai:another --record-mode new_episodes")


def test_a_judge_that_cannot_be_reached_is_exit_3_and_does_not_keep_another_from_being_shown(
    tmp_path, monkeypatch
):
    with ProviderStub(lambda asked: Status(404)) as stub:
        suite = JudgedSuite(tmp_path)
        suite.calibrate("new_episodes")
        down = f"    judge: {{name: openai:down, base_url: '{stub.base_url('openai')}'}}"
        second = (
            "  other:\n    model: openai:scripted\n    embedder: openai:scripted-embedder\n    prompt: v1"
        )
        suite.edit("suite.yaml", "candidates:\n", f"candidates:\n{second}\n{down}\n")
        monkeypatch.setenv("OPENAI_API_KEY", "none")  # all of the other judge is recorded
        monkeypatch.setenv("EVAL_DATA", str(suite.data_root))
        monkeypatch.setenv("EVAL_WAREHOUSE", str(tmp_path / "warehouse"))
        found = CliRunner().invoke(app, ["calibrate", "docs", "--record-mode", "new_episodes"])
        assert found.exit_code == 3, found.output
        assert "one case: eval-pipeline explain docs --judge openai:judge --case ID" in found.stdout
        # 2 cases of faithfulness, strict and plain, and one of recall, each three times: 15.
        (told,) = [line for line in found.stderr.splitlines() if line.startswith("error: docs openai-down@")]
        assert (
            "the provider gave no answer for 15 of 15 scores; the first: faithfulness: http_404: openai"
            in told
        )
        key_missing = ["calibrate", "docs", "--judge", "google_genai:judge", "--record-mode", "new_episodes"]
        suite.edit(
            "suite.yaml",
            f"name: openai:down, base_url: '{stub.base_url('openai')}'",
            "name: google_genai:judge",
        )
        monkeypatch.delenv("GOOGLE_API_KEY", raising=False)
        monkeypatch.delenv("GEMINI_API_KEY", raising=False)
        calls = stub.calls
        found = CliRunner().invoke(app, key_missing)
        assert (found.exit_code, stub.calls) == (3, calls)
        assert "set GOOGLE_API_KEY or GEMINI_API_KEY" in found.stderr
