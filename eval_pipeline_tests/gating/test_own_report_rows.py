"""Stage reports of our own, which say themselves which stages apply and what came of each."""

from __future__ import annotations

from typing import Any

import pytest

from eval_pipeline.gating.outcomes import Outcomes, OutcomesError
from eval_pipeline.gating.published import read_published
from eval_pipeline_tests.gating.stage_reports import (
    Edit,
    own_stage_report,
    row,
    set_row,
    set_tools,
    stage_report,
)


def own(edit: Edit = lambda report: None) -> Outcomes:
    report = own_stage_report()
    edit(report)
    return read_published(report, "report.json")


def test_a_report_of_our_own_says_itself_what_applies_and_came_of_it() -> None:
    outcomes = own()

    assert [(test.nodeid, test.outcome, test.error_source) for test in outcomes.tests] == [
        ("docs-stages::backup::test_tools", "failed", None),
        ("docs-stages::backup::test_retrieval", "failed", None),
        ("docs-stages::backup::test_faithfulness", "error", "judge"),
        ("docs-stages::backup::test_contextual_recall", "failed", None),
        ("docs-stages::backup::test_answer_relevancy", "passed", None),
        ("docs-stages::thanks::test_tools", "passed", None),
        ("docs-stages::thanks::test_answer_relevancy", "failed", None),
    ]
    assert all(test.gating for test in outcomes.tests)
    assert outcomes.imported is not None
    assert outcomes.imported.unmapped == {"backup": {"contextual_precision": 0.4}}


def test_repeats_of_our_own_report_are_repeats() -> None:
    outcomes = own(lambda report: report["rows"].append(row(report, "thanks") | {"repeat": 1}))

    assert outcomes.eval.repeats == 2
    assert [test.repeat for test in outcomes.tests if test.nodeid.endswith("thanks::test_tools")] == [0, 1]


def set_outcome(stage: str, **fields: Any) -> Edit:
    return lambda report: row(report, "backup")["outcomes"][stage].update(fields)


def drop_outcome(stage: str) -> Edit:
    return lambda report: row(report, "backup")["outcomes"].pop(stage)


OWN_REFUSED: dict[str, tuple[Edit, str]] = {
    "passed below its score": (
        set_outcome("contextual_recall", outcome="passed"),
        "outcomes.contextual_recall is passed, which contradicts its score 0.2",
    ),
    "failed above its score": (
        set_outcome("answer_relevancy", outcome="failed"),
        "outcomes.answer_relevancy is failed, which contradicts its score 0.9",
    ),
    "passed without a score": (
        set_outcome("faithfulness", outcome="passed"),
        "outcomes.faithfulness is passed, and yet it has no score",
    ),
    "an error of nobody's": (
        set_outcome("faithfulness", error_source=None),
        "outcomes.faithfulness is an error, and its error_source is missing",
    ),
    "a score without an outcome": (
        drop_outcome("answer_relevancy"),
        "answer_relevancy has a score and no outcome",
    ),
    "a surplus metric": (
        lambda report: row(report, "backup")["judged"].update(bias={"score": 0.1}),
        "judged.bias is surplus",
    ),
    "a first failure that only advises": (
        set_row("first_failure", "grounding"),
        "first_failure is 'grounding', and yet the first gating stage that fails is 'tools'",
    ),
    "no first failure": (
        set_row("first_failure", None),
        "first_failure is None, and yet the first gating stage that fails is 'tools'",
    ),
    "tools against its block": (
        set_tools(**{"pass": True}),
        "tools.pass is true, which contradicts score 0",
    ),
}


@pytest.mark.parametrize(("edit", "problem"), OWN_REFUSED.values(), ids=OWN_REFUSED.keys())
def test_a_report_of_our_own_that_contradicts_itself_is_refused(edit: Edit, problem: str) -> None:
    with pytest.raises(OutcomesError) as refusal:
        own(edit)

    assert problem in str(refusal.value)


def test_first_failure_of_our_own_rests_on_gating_stages() -> None:
    def edit(report: dict[str, Any]) -> None:
        set_outcome("tools", gating=False)(report)
        set_outcome("retrieval", gating=False)(report)
        set_row("first_failure", None)(report)

    assert len(own(edit).tests) == 7


def test_a_run_that_broke_off_after_passing_names_the_source() -> None:
    def edit(report: dict[str, Any]) -> None:
        found = row(report, "thanks")
        found["error"] = {"source": "provider", "kind": "timeout", "message": "made up"}
        found["first_failure"] = "provider"

    assert len(own(edit).tests) == 7


def plain_suite(report: dict[str, Any]) -> None:
    """A suite whose system is a function: no model, no retrieval by k, and no judge."""
    report |= {"k": None, "threshold": None}
    report["key"] |= dict.fromkeys(["k", "model", "embedder", "judge", "strict_faithfulness"])
    for own_row in report["rows"]:
        own_row["judged"] = {}
        own_row["retrieval"] = None
        own_row["outcomes"] = {"tools": own_row["outcomes"]["tools"]}


def test_a_suite_of_our_own_may_have_no_model_retrieval_or_judge() -> None:
    block = own(plain_suite).eval

    assert (block.model, block.embedder, block.k, block.judge_model) == (None, None, None, None)
    assert block.known("model")
    assert [stage.name for stage in block.stages] == ["test_tools", "test_retrieval"]


def test_a_report_from_elsewhere_may_not() -> None:
    report = stage_report()
    report["key"]["model"] = None

    with pytest.raises(OutcomesError, match=r"key\.model: None is not a valid string"):
        read_published(report, "report.json")


def test_a_judged_stage_without_a_threshold_is_refused() -> None:
    with pytest.raises(
        OutcomesError, match="contextual_recall is judged, and the report has no one threshold"
    ):
        own(lambda report: report.update(threshold=None))


def test_a_report_of_which_no_stage_is_mapped_names_the_way_out() -> None:
    def edit(report: dict[str, Any]) -> None:
        plain_suite(report)
        for own_row in report["rows"]:
            own_row |= {"tools": None, "retrieval": None, "outcomes": {}, "first_failure": None}

    with pytest.raises(OutcomesError, match=r"none of its stages is tools, .* --format outcomes"):
        own(edit)
