"""A calibration is replayed when anything changed that it follows from, and left alone when nothing did."""

from __future__ import annotations

import pytest

from eval_pipeline import calibration_results
from eval_pipeline.calibration_results import calibration_at_hand, store_calibration
from eval_pipeline.evaluation import Evaluation
from eval_pipeline_tests.judged_suite import JudgedSuite


@pytest.fixture
def judged(tmp_path):
    suite = JudgedSuite(tmp_path)
    suite.score("new_episodes")
    suite.calibrate("new_episodes")
    return suite


@pytest.fixture
def replays(monkeypatch):
    """A mark for each time that a calibration is replayed."""
    found: list[str] = []
    calibrate = calibration_results.calibrate

    def noted(suite, judge, *arguments, **more):
        found.append(suite.calibration_key(judge))
        return calibrate(suite, judge, *arguments, **more)

    monkeypatch.setattr(calibration_results, "calibrate", noted)
    return found


def store(judged: JudgedSuite, *, carry_over: bool = True):
    evaluation = Evaluation(
        run_id="r",
        data_root=judged.data_root,
        warehouse_root=str(judged.data_root.parent / "warehouse"),
        carry_over=carry_over,
    )
    suite = evaluation.suite(judged.suite.name)
    (key, judge) = next(iter(suite.judges.items()))
    assert calibration_at_hand(evaluation, suite, judge)
    stored = store_calibration(evaluation, suite.name, key)
    return stored, evaluation.warehouse.read("calibration", suite=suite.name, judge=key)


def test_an_unchanged_one_is_replayed_once(judged, replays):
    first, table = store(judged)
    second, same = store(judged)
    assert (first, table) == (second, same)
    assert len(replays) == 1


def test_it_is_replayed_where_nothing_is_to_be_carried_over(judged, replays):
    store(judged)
    store(judged, carry_over=False)
    assert len(replays) == 2


def test_another_answer_of_the_judge_gives_another_calibration(judged, replays):
    _, before = store(judged)
    for file in judged.suite.recordings.glob("*/calls.jsonl"):
        # The last of a score's questions, on which no other rests.
        file.write_text(file.read_text().replace("about []", "about it"))
    _, after = store(judged)
    assert len(replays) == 2
    assert "about []" in before["reason"].to_pylist()
    assert "about it" in after["reason"].to_pylist()


@pytest.mark.parametrize("name", ["part.parquet", "calibration_inputs.json"])
def test_it_is_replayed_when_a_file_of_it_is_lost(judged, replays, name):
    _, before = store(judged)
    (file,) = (judged.data_root.parent / "warehouse").rglob(f"calibration/**/{name}")
    file.unlink()
    _, after = store(judged)
    assert (len(replays), before) == (2, after)


@pytest.mark.parametrize("torn", ["{", "null", '{"known": "1"}', '{"known": "1", "used": 1, "table": "2"}'])
def test_a_broken_note_of_it_is_as_none(judged, replays, torn):
    store(judged)
    (file,) = (judged.data_root.parent / "warehouse").rglob("calibration/**/calibration_inputs.json")
    file.write_text(torn)
    store(judged)
    assert len(replays) == 2
