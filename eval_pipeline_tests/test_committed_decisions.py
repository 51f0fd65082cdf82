"""Replaying the recordings reproduces every committed decision; run this file to write them anew.

A suite's decisions are `data/<suite>/decisions/<dataset name>/<candidate name>.json`.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from eval_pipeline.gate_files import GateFiles
from eval_pipeline.gate_results import decide_outcomes
from eval_pipeline.gating.decision import GateDecision
from eval_pipeline.gating.outcome_files import read_outcomes
from eval_pipeline.gating.render import render_json
from eval_pipeline_tests.replayed import DATA, committed_suite, replayed

COMMITTED = sorted(DATA.glob("*/decisions/*/*.json"))
BASELINES = sorted(DATA.glob("*/baselines/*.json"))
REWRITE = """what the gate says has changed. If that is meant: where the baseline's own run has changed too
(another judge, other stages or cases), promote its candidate again:
  eval-pipeline promote {suite} --candidate NAME --dataset {dataset}
Then write all decisions anew, and review the diff:
  python -m eval_pipeline_tests.test_committed_decisions"""


def decision_of(path: Path) -> GateDecision:
    suite = committed_suite(path.parent.parent.parent.name)
    (cell,) = suite.select_cells(path.stem, path.parent.name)
    _, outcomes = replayed(suite.name, cell)
    return decide_outcomes(suite, cell, outcomes, GateFiles())


def test_decisions_are_committed():
    assert COMMITTED


@pytest.mark.parametrize("path", COMMITTED, ids=lambda path: path.relative_to(DATA).as_posix())
def test_replay_reproduces_a_committed_decision(path):
    suite, dataset = path.parent.parent.parent.name, path.parent.name
    remedy = REWRITE.format(suite=suite, dataset=dataset)
    assert render_json(decision_of(path)) == path.read_text(encoding="utf-8"), remedy


@pytest.mark.parametrize("path", BASELINES, ids=lambda path: path.relative_to(DATA).as_posix())
def test_a_committed_baseline_is_a_measured_run_of_its_suite(path):
    outcomes = read_outcomes(path)
    assert outcomes.eval.suite == path.parent.parent.name
    assert outcomes.eval.dataset_name == path.stem
    assert all(test.outcome in ("passed", "failed", "error") for test in outcomes.tests if test.gating)


def test_one_page_a_search_regresses_where_a_second_page_is_needed():
    decision = decision_of(DATA / "docs_assistant" / "decisions" / "docs-assistant" / "qwen-1.5b-k1.json")
    assert decision.verdict == "block"
    assert "docs_assistant::pipe-colors::retrieval" in [test.nodeid for test in decision.regressed]


def test_the_second_triage_prompt_ranks_a_leaked_secret_lower_and_is_blocked():
    decision = decision_of(DATA / "issue_triage" / "decisions" / "triage-v1" / "qwen-1.5b-v2.json")
    assert decision.verdict == "block"
    assert [test.nodeid for test in decision.critical_failures] == [
        "issue_triage::token-in-debug-log::priority"
    ]
    assert [stage.record.calibrated for stage in decision.advisory] == [False]


if __name__ == "__main__":
    for committed in COMMITTED:
        committed.write_text(render_json(decision_of(committed)), encoding="utf-8")
