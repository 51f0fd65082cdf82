"""`calibrate`: what the judge caught, what is stored of it, and what makes that out of date."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from eval_pipeline.calibration_results import read_records, store_calibration
from eval_pipeline.cli import app, main
from eval_pipeline.evaluation import Evaluation
from eval_pipeline_tests.calibrate_command.judge_replies import sees_postgres
from eval_pipeline_tests.command_line import evaluate_in
from eval_pipeline_tests.judged_suite import JudgedSuite
from eval_pipeline_tests.scripted_judge import JudgedConnector, saying


def test_calibrate_prints_what_the_judge_caught_and_each_cases_scores(cli):
    code, out, err = cli("calibrate", "docs")
    assert code == 0, err
    rows = [" ".join(line.split()) for line in out.splitlines()]
    assert "faithfulness 1 of 1 0 0 of 1 0 0 1.00 yes" in rows
    assert "faithfulness (plain) 1 of 1 0 0 of 1 0 0 1.00 yes" in rows
    assert any(
        row.startswith("contextual_recall 0 of 1 1 0 of 0 0 0 undefined: one class no: scored 1")
        for row in rows
    )
    assert "engine faithfulness defect 0.00 0.00 0.00 0.70 caught" in rows
    assert "page-missing contextual_recall defect 1.00 1.00 1.00 0.70 missed" in rows


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["calibrate", "docs", "--judge", "openai:juge"], "no judge 'openai:juge'; did you mean"),
        (["explain", "docs", "--judge", "openai:judge", "--case", "engin"], "did you mean 'engine'?"),
        (["explain", "docs", "--case", "engine"], "give --candidate for a case of a dataset, or --judge"),
    ],
)
def test_a_wrong_name_is_a_clear_error_with_exit_code_4(cli, monkeypatch, capsys, arguments, message):
    monkeypatch.setattr("sys.argv", ["eval-pipeline", *arguments])
    with pytest.raises(SystemExit) as caught:
        main()
    assert caught.value.code == 4
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("view", ["calibration", "current_calibration"])
def test_calibration_can_be_queried(cli, view):
    cli("calibrate", "docs")
    query = f"select metric, count(*) as n from {view} where expected = 'defect' group by all order by all"
    assert json.loads(cli("sql", query, "--format", "json")[1]) == [
        {"metric": "contextual_recall", "n": 3},
        {"metric": "faithfulness", "n": 3},
        {"metric": "faithfulness (plain)", "n": 3},
    ]


def test_an_edited_case_stops_calibrate_and_merely_uncalibrates_run(tmp_path, monkeypatch, capsys):
    suite = JudgedSuite(tmp_path)
    suite.score("new_episodes")
    suite.calibrate("new_episodes")
    suite.edit("calibration.yaml", "PostgreSQL", "MySQL")
    evaluate_in(monkeypatch, suite.data_root, tmp_path / "warehouse")
    monkeypatch.setattr("sys.argv", ["eval-pipeline", "calibrate", "docs"])
    with pytest.raises(SystemExit) as caught:
        main()
    assert caught.value.code == 4
    told = capsys.readouterr().err
    assert "engine (judge, repeats 0, 1, 2): answer changed (" in told
    assert "eval-pipeline calibrate docs --judge openai:judge --record-mode new_episodes" in told
    assert "judge not calibrated" in CliRunner().invoke(app, ["run", "docs"]).stdout


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('Faithfulness", threshold: 0.7}', 'Faithfulness", threshold: 0.8}'),
        ('Faithfulness", threshold: 0.7}', 'Faithfulness", threshold: 0.7, parameters: {strict: false}}'),
    ],
)
def test_a_calibration_by_another_threshold_or_strictness_is_none(tmp_path, old, new):
    suite = JudgedSuite(tmp_path, more="calibration: {cases: 1}\n")
    connector = JudgedConnector(saying(Verdicts=sees_postgres))
    suite.calibrate("new_episodes", connector)
    (key,) = suite.suite.judges

    def evaluation() -> Evaluation:
        return Evaluation("r", suite.data_root, str(tmp_path / "warehouse"))

    def records() -> object:
        return read_records(evaluation().warehouse, suite.suite, suite.suite.cells[0])

    store_calibration(evaluation(), "docs", key)
    assert records()["faithfulness"].calibrated
    suite.edit("suite.yaml", old, new)
    assert list(suite.suite.judges) == [key]
    assert records() == {}
    store_calibration(evaluation(), "docs", key)  # replayed: nothing is asked
    assert records()["faithfulness"].calibrated
