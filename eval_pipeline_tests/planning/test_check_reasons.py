"""A plan says why checks of unchanged traces are made again, though that costs no call."""

from __future__ import annotations

import pytest

from eval_pipeline.evaluation import Evaluation
from eval_pipeline.planning.cell_plan import CellPlan, CellPlanner
from eval_pipeline.planning.typical_calls import TypicalCalls
from eval_pipeline_tests.comparing.sides import store_all
from eval_pipeline_tests.judged_suite import JudgedSuite
from eval_pipeline_tests.toy import write_toy


@pytest.fixture
def toy(tmp_path):
    toy = write_toy(tmp_path)
    store_all(evaluation_of(toy), "toy", "calm")
    return toy


def evaluation_of(toy) -> Evaluation:
    return Evaluation("p", toy.data, str(toy.root / "warehouse"))


def store_inputs(evaluation: Evaluation) -> None:
    """What a run stores beside the cell's own tables."""
    for key in evaluation.suite("toy").datasets:
        evaluation.store_cases("toy", key)


def plan(evaluation: Evaluation, suite_name: str, candidate: str) -> CellPlan:
    suite = evaluation.suite(suite_name)
    (cell,) = suite.select_cells(candidate)
    return CellPlanner(evaluation, suite, cell, TypicalCalls.of(suite.recordings)).plan()


def test_an_unchanged_suite_needs_no_reason(toy):
    assert plan(evaluation_of(toy), "toy", "calm").check_reasons == {}


# Of four checks: `tools` of two cases; `retrieval` and `words` of the one that expects pages and words.
@pytest.mark.parametrize(
    ("place", "old", "new", "reasons"),
    [
        ("suite.yaml", "threshold: 0.5", "threshold: 0.6", {"stage words is declared differently": 1}),
        ("datasets/small.yaml", "words: [red]", "words: [An]", {"what the case expects changed": 3}),
        ("datasets/small.yaml", "An apple is red.", "Red.", {"what the case expects changed": 3}),
        (
            "datasets/small.yaml",
            "      tools: []",
            "      tools: []\n      pages: [pear]",
            {"what the case expects changed": 1, "stage retrieval is new for the case": 1},
        ),
        ("documents/pear.md", "green", "yellow", {}),
    ],
)
def test_the_reason_is_what_was_edited(toy, place, old, new, reasons):
    toy.edit(place, old, new)
    found = plan(evaluation_of(toy), "toy", "calm")
    told = {f"{reason} (no call)": count for reason, count in reasons.items()}
    if place.startswith("documents"):
        told = {"a page changed (no call)": 2}  # the traces' own reason says enough of their checks
    assert {**found.trace_reasons, **found.check_reasons} == told
    assert found.calls == ()


def test_another_judge_of_an_unchanged_answer_is_named_though_it_is_recorded(tmp_path):
    suite = JudgedSuite(tmp_path)
    suite.score("new_episodes")
    evaluation = Evaluation("p", suite.data_root, str(tmp_path / "warehouse"))
    store_all(evaluation, "docs")
    suite.edit("suite.yaml", "seed: 7", "seed: 8")
    suite.score("new_episodes")
    reasons = plan(evaluation, "docs", "scripted").check_reasons
    assert "stage faithfulness has another judge (no call)" in reasons


@pytest.mark.parametrize(
    "text", ["{}", "[]", "null", "x{", '{"key": []}', '{"key": {"stages": [1]}}', '{"key": {"judge_id": 3}}']
)
def test_a_report_that_somebody_has_broken_is_none(toy, text):
    evaluation = evaluation_of(toy)
    store_inputs(evaluation)
    (report,) = (toy.root / "warehouse").glob("stage_report/**/report.json")
    toy.edit("suite.yaml", "threshold: 0.5", "threshold: 0.6")
    report.write_text(text)
    told = "no report is stored to compare stage words with (no call)"
    assert plan(evaluation, "toy", "calm").check_reasons == {told: 1}
