"""What `check` and `keys` say of judges and their calibration."""

from __future__ import annotations

from typer.testing import CliRunner

from eval_pipeline.cli import app
from eval_pipeline_tests.judged_suite import JudgedSuite


def without_notes(text: str) -> list[str]:
    """What `check` says, but for the stages that have too few calibration cases."""
    return [line for line in text.splitlines() if "can only advise" not in line]


def test_keys_lists_judges_with_the_command_that_calibrates_them(cli):
    out = cli("keys", "docs")[1]
    assert "--select 'docs/calibration' --partition 'openai-judge@" in out


def test_check_names_the_stages_that_the_calibration_cases_cannot_let_gate(cli):
    # Of the minimum of 1 and 1, recall has 1 defect alone; relevancy has nothing, and precision never gates.
    code, out, _ = cli("check", "docs")
    told = [line.strip() for line in out.splitlines() if "can only advise" in line]
    assert code == 0
    assert told == [
        "contextual_recall can only advise: calibration.yaml has 1 defect and 0 sound answers for it, "
        "1 of each is needed",
        "answer_relevancy can only advise: calibration.yaml has 0 defects and 0 sound answers for it, "
        "1 of each is needed",
    ]


def test_check_takes_the_judges_calls_for_used(cli):
    assert without_notes(cli("check", "docs")[1]) == ["docs: ok"]


def test_check_and_keys_name_a_judge_that_nothing_is_recorded_of(tmp_path, monkeypatch):
    suite = JudgedSuite(tmp_path)
    suite.run("new_episodes")
    monkeypatch.setenv("EVAL_DATA", str(suite.data_root))
    checked = CliRunner().invoke(app, ["check", "docs"])
    stages = "contextual_precision, faithfulness, contextual_recall, answer_relevancy"
    assert (checked.exit_code, without_notes(checked.stdout)) == (
        0,
        [
            "docs: ok",
            f"  not recorded: judge openai:judge of candidate scripted ({stages}): eval-pipeline run docs "
            "--candidate scripted --dataset docs-assistant --record-mode new_episodes",
            "  not recorded: calibration of judge openai:judge: eval-pipeline calibrate docs "
            "--judge openai:judge --record-mode new_episodes",
        ],
    )
    assert "   (not recorded)\n" in CliRunner().invoke(app, ["keys", "docs"]).stdout


def test_check_and_keys_name_a_calibration_that_is_not_recorded(tmp_path, monkeypatch):
    suite = JudgedSuite(tmp_path)
    suite.score("new_episodes")
    monkeypatch.setenv("EVAL_DATA", str(suite.data_root))
    checked = without_notes(CliRunner().invoke(app, ["check", "docs"]).stdout)
    assert [line.partition(": eval-pipeline")[0] for line in checked] == [
        "docs: ok",
        "  not recorded: calibration of judge openai:judge",
    ]
    assert "   (calibration not recorded)\n" in CliRunner().invoke(app, ["keys", "docs"]).stdout
