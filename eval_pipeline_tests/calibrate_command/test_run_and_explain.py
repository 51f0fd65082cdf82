"""What `run` and `explain` make of a judge, calibrated or not."""

from __future__ import annotations

from typer.testing import CliRunner

from eval_pipeline.cli import app
from eval_pipeline_tests.command_line import evaluate_in
from eval_pipeline_tests.judged_suite import JudgedSuite
from eval_pipeline_tests.scripted_judge import JudgedConnector, saying


def test_run_calibrates_a_recorded_judge_by_itself_and_shows_its_record(cli):
    code, out, err = cli("run", "docs")
    assert code == 0, err
    assert "gates: judge caught 1 of 1 defects, 0 false alarms in 1 sound answers" in out
    assert "advisory: judge caught 0 of 1 defects, 0 false alarms in 0 sound answers" in out
    assert "answer_relevancy" in out
    assert "advisory: no calibration cases" in out
    assert "write cases into calibration.yaml for: answer_relevancy" in out


def test_explain_shows_the_judges_steps_of_a_case(cli):
    cli("run", "docs")
    out = cli("explain", "docs", "--candidate", "scripted", "--case", "backup")[1]
    assert "claims:" in out
    assert "yes: about" in out


def test_explain_reaches_a_calibration_case_stored_or_not(cli):
    fresh = cli("explain", "docs", "--judge", "openai:judge", "--case", "engine")[1]
    for text in (
        "defect: The page says SQLite.",
        "faithfulness, repeat 3",
        "defect seen",
        "no: about mark-1",
    ):
        assert text in fresh
    cli("calibrate", "docs")
    assert cli("explain", "docs", "--judge", "openai:judge", "--case", "engine")[1] == fresh


def test_what_an_advisory_judge_cannot_say_does_not_change_the_exit_code(tmp_path, monkeypatch):
    suite = JudgedSuite(tmp_path, calibration="")
    suite.score("new_episodes", JudgedConnector(saying(Statements="no JSON")))
    evaluate_in(monkeypatch, suite.data_root, tmp_path / "warehouse")
    ran = CliRunner().invoke(app, ["run", "docs"])
    assert ran.exit_code == 0
    assert "nothing measured, 10 errors, advisory: judge not calibrated" in ran.stdout
