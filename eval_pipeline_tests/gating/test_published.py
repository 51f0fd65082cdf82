from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from eval_pipeline.gating.decide import decide
from eval_pipeline.gating.outcome_files import read_outcomes
from eval_pipeline.gating.outcomes import Outcomes
from eval_pipeline.gating.policy import PUBLISHED_POLICY
from eval_pipeline.gating.published import read_published
from eval_pipeline_tests.gating.stage_reports import Edit, row, stage_report


def imported(edit: Edit = lambda report: None) -> Outcomes:
    report = stage_report()
    edit(report)
    return read_published(report, "report.json")


# What it becomes


def test_each_mapped_stage_that_applies_becomes_an_outcome() -> None:
    tests = imported().tests

    # 10 tools + 7 retrieval + 9 faithfulness + 9 recall + 10 relevancy
    assert len(tests) == 45
    assert [test.nodeid for test in tests if test.case == "thanks"] == [
        "docs-stages::thanks::test_tools",
        "docs-stages::thanks::test_answer_relevancy",
    ]
    assert all(test.gating for test in tests)


def test_stages_pass_by_verdict_by_full_recall_and_by_threshold() -> None:
    outcomes = {test.check: test.outcome for test in imported().tests if test.case == "pipe-colors"}

    assert outcomes == {
        "test_tools": "passed",
        "test_retrieval": "failed",  # recall 0.5
        "test_faithfulness": "failed",  # 0.67 < 0.7
        "test_contextual_recall": "failed",  # 0.0
        "test_answer_relevancy": "passed",
    }


def test_a_score_at_the_threshold_passes() -> None:
    def edit(report: dict[str, Any]) -> None:
        row(report, "backup")["judged"]["faithfulness"]["score"] = 0.7

    outcomes = {test.nodeid: test.outcome for test in imported(edit).tests}

    assert outcomes["docs-stages::backup::test_faithfulness"] == "passed"


def test_contextual_precision_is_kept_and_is_no_outcome() -> None:
    outcomes = imported()

    assert outcomes.imported is not None
    assert outcomes.imported.unmapped["token-leak"] == {"contextual_precision": 0.75}
    assert not [test for test in outcomes.tests if "precision" in test.check]


def test_the_dataset_sha_hashes_the_contract() -> None:
    # Keys sorted, no spaces: sha256 of {"applicability":{"backup":["answer_relevancy",
    # "contextual_recall","faithfulness","retrieval","tools"], … "thanks":["answer_relevancy","tools"], …},
    # "cases":"docs-assistant@1","cases_sha":"98b0e5bca6c8","docs_sha":"ea13ab95ac63",
    # "embedder":"gemini-embedding-2","k":3,"protocol":"docs-stage-scores-v1",
    # "strict_faithfulness":true,"threshold":0.7}
    assert imported().eval.dataset_sha == "bd96d29ac620e83bdee7cebba2a7aa0d03fbc383c4b1ee5e049093a6d384be73"


def test_the_digest_hashes_the_whole_report_in_the_same_form() -> None:
    canonical = json.dumps(stage_report(), sort_keys=True, separators=(",", ":")).encode()
    outcomes = imported()

    assert outcomes.imported is not None
    assert outcomes.imported.digest == hashlib.sha256(canonical).hexdigest()


def test_what_it_was_made_with_is_kept() -> None:
    block = imported().eval

    assert (block.suite, block.dataset, block.k) == ("docs-stages", "docs-assistant@1", 3)
    assert (block.prompt_version, block.prompt_sha) == ("sha:a7990e4dc62c", "a7990e4dc62c")
    assert (block.model, block.judge_model) == ("gemini-3.8-flash", "gemini-3.8-flash")
    assert [stage.threshold for stage in block.stages] == [1.0, 1.0, 0.7, 0.7, 0.7]
    assert not block.known("judge_id")


# Gated


def test_a_report_against_itself_blocks_on_the_critical_failure() -> None:
    outcomes = imported()

    decision = decide(outcomes, outcomes, PUBLISHED_POLICY)

    assert decision.verdict == "block"
    assert [reason.rule for reason in decision.reasons] == ["critical"]
    assert [test.nodeid for test in decision.critical_failures] == [
        "docs-stages::pipe-colors::test_faithfulness"
    ]
    assert str(decision.rates[0].candidate) == "42/45 (0.82–0.98)"


def test_another_contract_is_incomparable_and_both_are_named_in_full() -> None:
    def edit(report: dict[str, Any]) -> None:
        report["threshold"] = 0.6
        row(report, "pipe-colors")["judged"]["faithfulness"]["score"] = 1.0

    before, after = imported(), imported(edit)

    decision = decide(before, after, PUBLISHED_POLICY)

    assert decision.verdict == "incomparable"
    (reason,) = [reason.text for reason in decision.reasons if "dataset_sha" in reason.text]
    assert str(before.eval.dataset_sha) in reason
    assert str(after.eval.dataset_sha) in reason
    assert "the contracts differ in threshold" in reason


def test_a_case_that_lost_its_calls_changes_the_contract() -> None:
    def edit(report: dict[str, Any]) -> None:
        found = row(report, "issue-212")
        found["calls"] = []
        found["judged"] = {"answer_relevancy": found["judged"]["answer_relevancy"]}

    decision = decide(imported(), imported(edit), PUBLISHED_POLICY)

    assert decision.verdict == "incomparable"
    assert "applicability of issue-212" in decision.reasons[0].text


def test_another_judge_is_incomparable() -> None:
    decision = decide(imported(), imported(lambda r: r["key"].update(judge="other")), PUBLISHED_POLICY)

    assert decision.verdict == "incomparable"
    assert decision.reasons[0].text.startswith("judge differs: baseline gemini-3.8-flash, candidate other")


def test_another_model_and_prompt_are_what_is_compared() -> None:
    def edit(report: dict[str, Any]) -> None:
        report["key"].update(model="other", prompt_sha="573cd471224c")

    decision = decide(imported(), imported(edit), PUBLISHED_POLICY)

    assert [(c.component, c.effect) for c in decision.changes] == [
        ("model", "released"),
        ("prompt", "released"),
    ]
    assert [reason.rule for reason in decision.reasons] == ["critical"]


def test_a_report_is_known_by_what_it_holds(tmp_path: Path) -> None:
    path = tmp_path / "saved.json"
    path.write_text(json.dumps(stage_report()))

    assert read_outcomes(path) == imported()
