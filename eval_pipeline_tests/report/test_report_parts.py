"""A part of a report that follows from the same as a stored one is taken over; any other is made."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from eval_pipeline import report_results
from eval_pipeline.evaluation import Evaluation
from eval_pipeline.recordings.credentials import without_secrets
from eval_pipeline.report import parts
from eval_pipeline.report.json_form import report_json
from eval_pipeline_tests.toy import DATASET, ToyFiles, write_toy

CASES = 9


@pytest.fixture
def toy(tmp_path, monkeypatch):
    monkeypatch.setattr("eval_pipeline.windows.SIZE", 3)
    toy = write_toy(tmp_path)
    write_cases(toy, {f"case-{number}": "Thank you!" for number in range(CASES)})
    return toy


def write_cases(toy: ToyFiles, questions: dict[str, str]) -> None:
    cases = [{"id": case_id, "input": text, "expected": {"tools": []}} for case_id, text in questions.items()]
    toy.write("datasets/small.yaml", json.dumps({"version": 1, "cases": cases}))


@pytest.fixture
def made(monkeypatch):
    """The cases of the parts that were made."""
    found: list[str] = []
    make_part = report_results.make_part

    def note(suite, cell, rows):
        found.extend(row.trace.case_id for row in rows)
        return make_part(suite, cell, rows)

    monkeypatch.setattr(report_results, "make_part", note)
    return found


def run(toy: ToyFiles, *, carry_over: bool = True) -> Path:
    """Where the report of `calm` is stored now; it is the one that its rows make."""
    warehouse = str(toy.root / "warehouse")
    evaluation = Evaluation(run_id="r", data_root=toy.data, warehouse_root=warehouse, carry_over=carry_over)
    (cell,) = evaluation.suite("toy").select_cells("calm")
    evaluation.store_traces(cell)
    evaluation.store_scores(cell)
    report, _ = evaluation.store_report(cell)
    folder = toy.root / "warehouse" / "stage_report"
    folder /= f"suite=toy/dataset={cell.dataset}/candidate={cell.candidate}"
    made_anew = evaluation.build_report(cell)
    assert (folder / "report.json").read_text() == without_secrets(report_json(made_anew))
    assert report.summary == made_anew.summary
    return folder


def window(place: int) -> list[str]:
    """The cases of the three rows that a row is among."""
    start = place // 3 * 3
    return [f"case-{number}" for number in range(start, start + 3)]


def test_an_edited_question_makes_its_part_though_the_answer_stays(toy, made):
    run(toy)
    made.clear()
    questions = {f"case-{number}": "Thank you!" for number in range(CASES)}
    write_cases(toy, questions | {"case-4": "Thanks!"})
    folder = run(toy)
    assert made == window(4)
    rows = json.loads((folder / "report.json").read_text())["rows"]
    assert [row["question"] for row in rows] == ["Thank you!"] * 4 + ["Thanks!"] + ["Thank you!"] * 4


def test_a_case_added_or_removed_leaves_the_parts_of_others(toy, made, monkeypatch):
    # A part ends after an id whose crc32 is even, 0, 1, 2, 3 and 8, and after three rows:
    # 0 | 1 | 2 | 3 | 4 5 6 | 7 8; of "added" it is odd.
    monkeypatch.setattr(parts, "MEAN_RUNS", 2)
    run(toy)
    made.clear()
    ids = [f"case-{number}" for number in range(CASES)]
    ids.remove("case-1")
    write_cases(toy, dict.fromkeys(ids, "Thank you!"))
    run(toy)
    assert made == []
    ids.insert(1, "added")  # before case-2
    write_cases(toy, dict.fromkeys(ids, "Thank you!"))
    run(toy)
    assert made == ["added", "case-2"]


@pytest.mark.parametrize("name", ["report.json", "outcomes.json"])
def test_a_stored_text_that_was_changed_is_never_taken_over(toy, made, name):
    folder = run(toy)
    made.clear()
    file = folder / name
    file.write_text(file.read_text().replace("case-7", "case-X"))  # of the same size
    write_cases(toy, {f"case-{number}": "Thank you!" if number else "Thanks!" for number in range(CASES)})
    run(toy)
    assert made == window(0) + window(7)


def test_a_renamed_stage_makes_all_parts(toy, made):
    run(toy)
    made.clear()
    toy.edit("suite.yaml", "name: words", "name: says")
    run(toy)
    assert made == [f"case-{number}" for number in range(CASES)]


def test_parts_of_a_report_that_broke_off_are_made(toy, made):
    folder = run(toy)
    made.clear()
    (folder / "report_parts.json").write_text("null\n")
    run(toy)
    assert made == [f"case-{number}" for number in range(CASES)]


def test_without_carry_over_all_parts_are_made(toy, made):
    run(toy)
    made.clear()
    run(toy, carry_over=False)
    assert made == [f"case-{number}" for number in range(CASES)]


def test_a_report_that_shows_what_has_become_a_secret_is_made_again(toy, monkeypatch):
    write_cases(toy, {"case-0": "Is it sesame-open-9?"})
    assert "Is it sesame-open-9?" in (run(toy) / "report.json").read_text()
    monkeypatch.setenv("DOOR_TOKEN", "sesame-open-9")
    text = (run(toy) / "report.json").read_text()
    assert "sesame-open-9" not in text
    assert "Is it ***?" in text


def test_what_a_scorer_shows_first_is_shown_first_though_no_score_changed(toy):
    toy.edit_module("scorer", "return Score(len(said) / len(words), f", METRICS)
    toy.write("datasets/small.yaml", DATASET)
    assert metrics_of(run(toy)) == ["a", "b"]
    scorer = sys.modules[f"toy_scorer_{toy.number}"].SaysWords
    scorer.metric_labels = {"b": "the second"}
    assert metrics_of(run(toy)) == ["b", "a"]


METRICS = "return Score(len(said) / len(words), metrics={'a': 0.5, 'b': 0.25}, reason=f"


def metrics_of(folder: Path) -> list[str]:
    """The metrics of the stage `words` in a stored report's summary, in their order."""
    return list(json.loads((folder / "report.json").read_text())["summary"]["stages"]["words"]["metrics"])


@pytest.mark.parametrize("torn", ["{", '{"inputs": 1}', '{"inputs": null, "version": "1", "parts": []}'])
def test_a_broken_list_of_parts_is_as_none(toy, made, torn):
    folder = run(toy)
    made.clear()
    (folder / "report_parts.json").write_text(torn)
    run(toy)
    assert len(made) == CASES
