"""A judge tried on its calibration cases: repeats, seeds, comparisons, and what is recorded."""

from __future__ import annotations

from collections import Counter

import pytest

from eval_pipeline.calibration import Minimums
from eval_pipeline.calibration_summary import summarise_calibration
from eval_pipeline.errors import RecordingMisses
from eval_pipeline.recordings import read_entries
from eval_pipeline.warehouse.calibration_rows import calibration_from, calibration_table
from eval_pipeline_tests.judged_suite import CALIBRATION, JudgedSuite
from eval_pipeline_tests.scripted_judge import JudgedConnector, Question, approve, reply, saying


def sees_postgres(question: Question) -> str:
    """Flags claims of mark-1, whose answer names the wrong engine."""
    return reply(question, ["no" if "mark-1" in question.prompt else "yes"] * (question.items or 0))


@pytest.fixture
def suite(tmp_path):
    return JudgedSuite(tmp_path)


def test_each_case_is_scored_three_times_under_each_metric_and_both_ways_of_faithfulness(suite):
    scores = suite.calibrate("new_episodes")
    assert Counter((score.metric, score.case_id) for score in scores) == {
        ("faithfulness", "engine"): 3,
        ("faithfulness", "engine-sound"): 3,
        ("faithfulness (plain)", "engine"): 3,
        ("faithfulness (plain)", "engine-sound"): 3,
        ("contextual_recall", "page-missing"): 3,
    }


def test_the_repeats_differ_in_their_seed_alone(suite):
    connector = JudgedConnector()
    suite.calibrate("new_episodes", connector)
    assert {tuple(settings.settings.items()) for settings, _ in connector.judged} == {
        (("temperature", 0.4), ("seed", seed)) for seed in (7, 8, 9)
    }


def test_a_judge_that_sees_the_defect_is_told_from_one_that_sees_none(suite):
    seeing = suite.calibrate("new_episodes", JudgedConnector(saying(Verdicts=sees_postgres)))
    found = summarise_calibration(seeing, Minimums(cases=1))
    assert found["faithfulness"].record.calibrated
    assert (found["faithfulness"].record.caught, found["faithfulness"].kappa) == (1, 1.0)
    assert not found["contextual_recall"].record.calibrated
    assert found["contextual_recall"].kappa is None


def test_a_judge_that_passes_everything_is_not_calibrated(suite):
    found = summarise_calibration(
        suite.calibrate("new_episodes", JudgedConnector(approve)), Minimums(cases=1)
    )
    assert [metric.record.calibrated for metric in found.values()] == [False] * 3


def test_an_unusable_reply_is_that_repeats_error(suite):
    def torn(question: Question) -> str:
        return "{" if "mark-2" in question.prompt else approve(question)

    scores = suite.calibrate("new_episodes", JudgedConnector(saying(Claims=torn)))
    errors = {(score.case_id, score.error_source) for score in scores if score.outcome == "error"}
    assert errors == {("engine-sound", "judge")}


def test_grounding_is_tried_on_the_same_cases_once_without_a_judge(tmp_path):
    text = CALIBRATION.replace("metrics: [faithfulness]", "metrics: [faithfulness, grounding]")
    text = text.replace("In a PostgreSQL database", "In 40 SQLite files")
    suite = JudgedSuite(tmp_path, calibration=text)
    grounding = '  - {name: grounding, scorer: "eval_pipeline.scorers.grounding:Grounding", gating: never}\n'
    suite.edit("suite.yaml", "judge:\n", f"{grounding}judge:\n")
    scores = [score for score in suite.calibrate("new_episodes") if score.metric == "grounding"]
    # The number stands nowhere in the context.
    assert [(score.case_id, score.outcome, score.judge) for score in scores] == [
        ("engine", "failed", None),
        ("engine-sound", "passed", None),
    ]


def test_a_recorded_calibration_replays_without_a_client(suite):
    live = suite.calibrate("new_episodes")
    connector = JudgedConnector()
    assert suite.calibrate("none", connector) == live
    assert connector.made == 0


def test_an_unrecorded_calibration_names_the_command_that_records_it(suite):
    with pytest.raises(RecordingMisses, match="eval-pipeline calibrate docs --judge openai:judge --record"):
        suite.calibrate("none")


def test_a_miss_of_both_ways_of_faithfulness_is_told_once_with_what_changed(suite):
    suite.calibrate("new_episodes")
    suite.edit("calibration.yaml", "In a PostgreSQL database", "In a MySQL database")
    with pytest.raises(RecordingMisses) as caught:
        suite.calibrate("none")
    told = [line for line in str(caught.value).splitlines() if line.strip().startswith("engine ")]
    assert len(told) == 1
    assert "engine (judge, repeats 0, 1, 2): answer changed (" in told[0]
    assert "(plain)" not in str(caught.value)


def test_an_added_case_asks_for_itself_alone(suite):
    suite.calibrate("new_episodes")
    added = CALIBRATION + CALIBRATION[CALIBRATION.index("  - id: page-missing") :].replace(
        "page-missing", "page-there"
    ).replace("mark-3", "mark-4")
    (suite.folder / "calibration.yaml").write_text(added)
    connector = JudgedConnector()
    suite.calibrate("new_episodes", connector)
    # Recall's verdicts are asked without the question: what is equal is recorded already.
    assert connector.judged == []
    (suite.folder / "calibration.yaml").write_text(
        added.replace("Sync locks the remote.", "Sync is safe.", 1)
    )
    suite.calibrate("new_episodes", connector)
    assert Counter(connector.kinds) == {"Verdicts": 3, "ContextualRecallScoreReason": 3}


def test_calibration_is_labelled_apart_from_runs(suite):
    suite.calibrate("new_episodes")
    labels = {entry.label for entry in read_entries(suite.folder / "recordings")}
    assert labels == {"calibration of faithfulness", "calibration of contextual_recall"}


def test_a_recorded_calibration_does_not_make_a_run_half_recorded(suite):
    suite.calibrate("new_episodes")
    suite.run("new_episodes")
    checks = suite.score("none")
    assert {check.outcome for check in checks if check.stage == "faithfulness"} == {"not_measured"}


def test_the_scores_survive_the_warehouse(suite):
    scores = suite.calibrate("new_episodes")
    assert calibration_from(calibration_table(scores)) == scores
