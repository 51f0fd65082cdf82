from __future__ import annotations

from typing import Any

import pytest

from eval_pipeline.gating.comparability import compare_components
from eval_pipeline.gating.decide import decide
from eval_pipeline.gating.outcomes import DeclaredStage, ImportedReport, Outcomes
from eval_pipeline.gating.policy import Policy
from eval_pipeline_tests.gating.builders import eval_block, run

TOOLS = DeclaredStage(name="tools", threshold=1.0, scorer="tools")
LABEL = DeclaredStage(name="label", threshold=0.7, scorer="label")


def sides(before: dict[str, Any], after: dict[str, Any]) -> tuple[Outcomes, Outcomes]:
    return run("P", **before), run("P", **after)


@pytest.mark.parametrize(
    ("change", "component", "may_change", "effect"),
    [
        ({"suite": "other"}, "suite", ("model", "prompt", "index"), "incomparable"),
        ({"cases_sha": "cases-b", "dataset_sha": "d-b"}, "cases", ("index",), "incomparable"),
        ({"docs_sha": "docs-b", "dataset_sha": "d-b"}, "documents", (), "incomparable"),
        ({"docs_sha": "docs-b", "dataset_sha": "d-b"}, "documents", ("index",), "released"),
        ({"dataset_sha": "d-b"}, "dataset", (), "incomparable"),  # a fixture, then
        ({"dataset_sha": "d-b"}, "dataset", ("index",), "released"),
        ({"model": "ollama:large", "model_sha": "model-b"}, "model", ("model",), "released"),
        ({"model_sha": "model-b"}, "model", ("model",), "released"),  # other weights or settings
        ({"model_sha": "model-b"}, "model", ("prompt", "index"), "incomparable"),
        ({"prompt_sha": "prompt-b"}, "prompt", ("prompt",), "released"),
        ({"prompt_sha": "prompt-b"}, "prompt", ("model",), "incomparable"),
        ({"embedder": "onnx:other"}, "embedder", ("index",), "released"),
        ({"embedder": None}, "embedder", ("model",), "incomparable"),
        ({"k": 1}, "k", ("index",), "released"),
        ({"k": 1}, "k", ("model",), "incomparable"),
        ({"judge_id": "judge-b"}, "judge", ("model", "prompt", "index"), "incomparable"),
        ({"stages": (TOOLS,)}, "declared stages", ("model", "prompt", "index"), "incomparable"),
        ({"parameters_sha": "parameters-b"}, "parameters", (), "noted"),
        ({"tool_schemas_sha": "tools-b"}, "tool schemas", (), "noted"),
        ({"system_code_sha": "code-b"}, "system code", (), "noted"),
        ({"repeats": 3}, "repeats", (), "noted"),
    ],
)
def test_each_component(
    change: dict[str, Any], component: str, may_change: tuple[Any, ...], effect: str
) -> None:
    found = compare_components(*sides({}, change), Policy(may_change=may_change))

    assert [(c.component, c.effect) for c in found.changes] == [(component, effect)]
    assert len(found.reasons) == (effect == "incomparable")


@pytest.mark.parametrize(
    "change",
    [
        {"prompt_version": "v1-renamed"},  # the same text
        {"judge_model": "ollama:alias"},  # the same judge_id, which hashes the model
        {"dataset": "basics@2"},  # the same cases and documents
    ],
)
def test_a_new_name_for_the_same_content_is_no_change(change: dict[str, Any]) -> None:
    assert compare_components(*sides({}, change), Policy()).changes == ()


def test_prompts_are_told_apart_by_version_where_a_hash_is_absent() -> None:
    found = compare_components(*sides({"prompt_sha": ...}, {"prompt_version": "v2"}), Policy())

    assert [(c.component, c.baseline, c.candidate) for c in found.changes] == [
        ("prompt", "v1", "v2 (prompt_sha prompt-a)")
    ]
    assert found.notes == ("not compared, absent from baseline: prompt_sha",)


def test_judges_are_told_apart_by_model_where_an_id_is_absent() -> None:
    found = compare_components(*sides({"judge_id": ...}, {"judge_model": "ollama:other"}), Policy())

    assert found.reasons[0].text == (
        "judge differs: baseline ollama:judge, candidate ollama:other (judge_id judge-a); "
        "score both sides with one judge"
    )


def test_a_reason_names_both_sides_and_the_remedy() -> None:
    after = {"dataset": "basics@2", "cases_sha": "cases-b", "dataset_sha": "dataset-b"}

    found = compare_components(*sides({}, after), Policy())

    assert [reason.text for reason in found.reasons] == [
        "cases differ: baseline basics@1 (cases_sha cases-a), candidate basics@2 (cases_sha cases-b); "
        "rerun the baseline on the candidate's dataset, basics@2, and promote it"
    ]


def test_a_releasable_component_says_how_to_release_it() -> None:
    found = compare_components(*sides({}, {"k": 1}), Policy())

    assert found.reasons[0].text == (
        "k differs: baseline 3, candidate 1; let the policy's may_change release 'index'"
    )


def test_every_difference_is_its_own_reason() -> None:
    change = {"judge_id": "judge-b", "k": 1, "stages": (TOOLS,)}

    decision = decide(*sides({}, change), Policy())

    assert decision.verdict == "incomparable"
    assert [reason.rule for reason in decision.reasons] == ["comparable"] * 3


@pytest.mark.parametrize(
    ("before", "after", "text"),
    [
        ((TOOLS,), (TOOLS, LABEL), "baseline label not declared, candidate label declared"),
        ((TOOLS, LABEL), (LABEL, TOOLS), "baseline in the order tools, label, candidate in the order label"),
        (
            (LABEL,),
            (LABEL.model_copy(update={"threshold": 0.5, "gating": "never"}),),
            "baseline label threshold 0.7 gating always, candidate label threshold 0.5 gating never",
        ),
        (
            (LABEL,),
            (LABEL.model_copy(update={"parameters": {"strict": True}}),),
            "baseline label parameters {}, candidate label parameters {'strict': True}",
        ),
    ],
)
def test_stages_say_in_what_they_differ(
    before: tuple[DeclaredStage, ...], after: tuple[DeclaredStage, ...], text: str
) -> None:
    found = compare_components(*sides({"stages": before}, {"stages": after}), Policy())

    assert text in found.reasons[0].text


def test_absent_fields_are_not_compared_and_that_is_said() -> None:
    before = {"judge_id": ..., "judge_model": ..., "k": ...}
    after = {"k": 7, "embedder": ...}

    found = compare_components(*sides(before, after), Policy())

    assert found.changes == ()
    assert found.notes == (
        "not compared, absent from candidate: embedder_sha, embedder",
        "not compared, absent from baseline: k, judge_id, judge_model",
    )


def test_null_is_a_value_and_is_compared() -> None:
    found = compare_components(*sides({"judge_id": None, "judge_model": None}, {}), Policy())

    assert found.reasons[0].text.startswith("judge differs: baseline none, candidate ollama:judge")


def test_datasets_are_told_apart_by_name_where_no_hash_can_be() -> None:
    before, after = {"cases_sha": ...}, {"dataset_sha": ..., "dataset": "basics@2"}

    found = compare_components(*sides(before, after), Policy())

    assert [(c.component, c.baseline, c.candidate) for c in found.changes] == [
        ("dataset", "basics@1", "basics@2")
    ]


def test_imported_contracts_that_differ_are_incomparable_whatever_may_change() -> None:
    def imported(k: int, stages: list[str], dataset_sha: str) -> Outcomes:
        contract: dict[str, Any] = {"k": k, "applicability": {"backup": stages}}
        block = eval_block(k=k, dataset_sha=dataset_sha)
        return Outcomes(block, run("P").tests, imported=ImportedReport(digest="d", contract=contract))

    found = compare_components(
        imported(3, ["tools"], "a" * 64),
        imported(1, ["tools", "retrieval"], "b" * 64),
        Policy(may_change=("index",)),
    )

    assert [reason.text for reason in found.reasons] == [
        f"dataset differs: baseline basics@1 (dataset_sha {'a' * 64}), candidate basics@1 (dataset_sha "
        f"{'b' * 64}); rerun the baseline on the candidate's dataset, basics@1, and promote it "
        "(the contracts differ in k; applicability of backup)"
    ]
