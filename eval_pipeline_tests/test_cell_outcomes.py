"""A cell's report as a side of a gate: what it was made with, every check, and what the run took."""

from __future__ import annotations

import dataclasses
import json

import pytest

from eval_pipeline.agent_runs import run_cell
from eval_pipeline.cell_outcomes import cell_outcomes, declared_outcomes
from eval_pipeline.cell_scoring import score_cell
from eval_pipeline.gating.own_outcomes import outcomes_text, read_own_outcomes
from eval_pipeline.recordings import Recordings
from eval_pipeline.report.stage_report import build_report
from eval_pipeline.suite_reading import find_suite, read_suite
from eval_pipeline_tests.docs_suite import DocsSuite
from eval_pipeline_tests.judged_suite import JudgedSuite
from eval_pipeline_tests.scripted_judge import JudgedConnector
from eval_pipeline_tests.toy import write_toy


def replayed(suite, candidate=None, *, edit_checks=lambda checks: checks):
    (cell,) = suite.select_cells(candidate)
    traces = run_cell(suite, cell, lambda: Recordings(suite.recordings))
    checks = edit_checks(score_cell(suite, cell, traces, lambda: Recordings(suite.recordings)))
    return cell_outcomes(suite, build_report(suite, cell, traces, checks))


@pytest.fixture
def toy(tmp_path):
    return write_toy(tmp_path)


def results(outcomes):
    return {test.nodeid: (test.outcome, test.gating) for test in outcomes.tests}


def test_every_check_that_applies_is_an_outcome_in_the_reports_order(toy):
    assert list(results(replayed(read_suite(toy.suite), "loud")).items()) == [
        ("toy::apple::tools", ("passed", True)),
        ("toy::apple::retrieval", ("passed", True)),
        ("toy::apple::words", ("failed", True)),  # says RED
        ("toy::thanks::tools", ("passed", True)),
    ]


def test_a_check_that_applies_and_was_not_scored_is_not_measured(toy):
    suite = read_suite(toy.suite)
    outcomes = replayed(suite, "calm", edit_checks=lambda checks: [c for c in checks if c.stage != "words"])
    assert results(outcomes)["toy::apple::words"] == ("not_measured", True)


def test_further_repeats_of_a_judge_are_kept(toy):
    def twice(checks):
        return [*checks, *(dataclasses.replace(check, judge_repeat=1) for check in checks)]

    outcomes = replayed(read_suite(toy.suite), "calm", edit_checks=twice)
    assert [test.judge_repeat for test in outcomes.tests if test.nodeid == "toy::apple::words"] == [0, 1]


def test_a_block_says_what_the_run_was_made_with(tmp_path):
    suite = DocsSuite(tmp_path)
    suite.run("new_episodes")
    found = find_suite(suite.data_root, "docs")
    (dataset,) = found.datasets.values()
    block = replayed(found).eval
    assert (block.suite, block.dataset) == ("docs", "docs-assistant@1")
    assert (block.cases_sha, block.docs_sha) == (dataset.cases_sha[:12], dataset.docs_sha[:12])
    assert (block.model, block.embedder, block.k) == ("openai:scripted", "openai:scripted-embedder", 3)
    assert (block.prompt_version, block.parameters_sha) == ("v1", None)  # k is no other parameter
    assert (block.judge_id, block.judge_model) == (None, None)
    assert [(stage.name, stage.gating) for stage in block.stages] == [
        ("tools", "always"),
        ("retrieval", "always"),
    ]
    assert block.tool_schemas_sha is not None


def test_another_description_of_a_tool_is_another_tool_schema(tmp_path, monkeypatch):
    from eval_pipeline.systems import docs_assistant

    hashes = []
    for description in ("", "Search well. "):
        folder = tmp_path / f"suite{len(hashes)}"
        make = docs_assistant.search_tool

        def described(*arguments, make=make, description=description):
            tool = make(*arguments)
            tool.description = description + tool.description
            return tool

        monkeypatch.setattr(docs_assistant, "search_tool", described)
        suite = DocsSuite(folder)
        suite.run("new_episodes")
        hashes.append(replayed(find_suite(suite.data_root, "docs")).eval.tool_schemas_sha)
    assert hashes[0] != hashes[1]


def test_a_suite_without_models_calls_or_tools_says_that_it_has_none(toy):
    outcomes = replayed(read_suite(toy.suite), "calm")
    assert outcomes.usage is None
    assert outcomes.eval.known("tool_schemas_sha")
    assert outcomes.eval.tool_schemas_sha is None
    assert outcomes.eval.k is None


def test_other_settings_of_a_model_and_other_parameters_show(toy):
    before = replayed(read_suite(toy.suite), "loud").eval
    toy.edit("suite.yaml", "parameters: {shout: true}", "parameters: {shout: false}")
    toy.edit(
        "suite.yaml", "  loud:\n    model: ollama:toy", "  loud:\n    model: {name: 'ollama:toy', weights: x}"
    )
    after = replayed(read_suite(toy.suite), "loud").eval
    assert before.model == after.model
    assert before.model_sha != after.model_sha
    assert before.parameters_sha != after.parameters_sha


def test_a_judges_record_is_kept_and_an_unrecorded_judge_advises(tmp_path):
    made = JudgedSuite(tmp_path)
    made.run("new_episodes", JudgedConnector())
    outcomes = replayed(made.suite)
    assert outcomes.calibration == {}
    judge = made.suite.judge_of(made.suite.cells[0].candidate)
    assert outcomes.eval.judge_id == judge.id[:12]
    advisory = {test.check for test in outcomes.tests if not test.gating}
    assert advisory == {"contextual_precision", "faithfulness", "contextual_recall", "answer_relevancy"}


def test_outcomes_survive_their_file(tmp_path):
    made = JudgedSuite(tmp_path)
    made.run("new_episodes", JudgedConnector())
    outcomes = replayed(made.suite)
    assert read_own_outcomes(json.loads(outcomes_text(outcomes)), "outcomes.json") == outcomes


def test_what_a_suite_declares_covers_all_its_datasets(toy):
    toy.write(
        "datasets/more.yaml",
        "version: 1\ncases: [{id: pear, input: 'A pear?', expected: {words: [green]}}]\n",
    )
    declared = {test.nodeid for test in declared_outcomes(read_suite(toy.suite)).tests}
    assert {"toy::apple::words", "toy::pear::words", "toy::thanks::tools"} <= declared
    assert "toy::thanks::words" not in declared
