from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from eval_pipeline.gating.outcome_files import read_outcomes
from eval_pipeline.gating.outcomes import (
    CheckOutcome,
    DeclaredStage,
    JudgeRecord,
    Outcomes,
    OutcomesError,
    RunUsage,
    outcomes_of_checks,
)
from eval_pipeline.gating.own_outcomes import outcomes_text
from eval_pipeline.gating.published import read_published
from eval_pipeline.scores import CheckResult, Score
from eval_pipeline_tests.gating.builders import eval_block, run_of
from eval_pipeline_tests.gating.stage_reports import stage_report


def write(folder: Path, data: Any) -> Path:
    path = folder / "outcomes.json"
    path.write_text(data if isinstance(data, str) else json.dumps(data))
    return path


def minimal(**fields: Any) -> dict[str, Any]:
    tests = [{"nodeid": "toy::c0::tools", "repeat": 0, "outcome": "passed", "gating": True}]
    return {"eval": {"suite": "toy", "dataset": "basics@1", "cases_sha": "a"}, "tests": tests} | fields


FULL = Outcomes(
    eval=eval_block(
        judge_id=None,
        repeats=2,
        stages=(DeclaredStage(name="tools", threshold=1.0, scorer="tools", parameters={"deep": [1, None]}),),
    ),
    tests=(
        *run_of({"tools": "PFSVN", "label": "pf-P"}).tests,
        CheckOutcome("toy::c9::label", "c9", "label", "passed", repeat=1, judge_repeat=2),
    ),
    usage=RunUsage(calls=3, latency_ms=12.5),
    calibration={"label": JudgeRecord(calibrated=False, defects=8, caught=2, sound=8, false_alarms=0)},
)


@pytest.mark.parametrize(
    "outcomes",
    [FULL, Outcomes(eval_block(), ()), read_published(stage_report(), "report.json")],
    ids=["full", "empty", "imported"],
)
def test_what_is_written_is_read_back(tmp_path: Path, outcomes: Outcomes) -> None:
    text = outcomes_text(outcomes)

    assert read_outcomes(write(tmp_path, text)) == outcomes
    assert outcomes_text(read_outcomes(write(tmp_path, text))) == text


def test_a_field_left_out_stays_unknown_and_null_stays_null(tmp_path: Path) -> None:
    outcomes = Outcomes(eval_block(judge_id=None, k=...), ())

    block = read_outcomes(write(tmp_path, outcomes_text(outcomes))).eval

    assert block.known("judge_id")
    assert not block.known("k")


def test_a_file_has_one_test_a_line() -> None:
    text = outcomes_text(run_of({"tools": "PV"}))

    assert text.endswith(
        """\
  "tests": [
    {"nodeid": "toy::c0::tools", "repeat": 0, "outcome": "passed", "gating": true, "error_source": null},
    {"nodeid": "toy::c1::tools", "repeat": 0, "outcome": "error", "gating": true, "error_source": "provider"}
  ]
}
"""
    )


def test_a_file_needs_little(tmp_path: Path) -> None:
    outcomes = read_outcomes(write(tmp_path, minimal()))

    assert outcomes.tests == (CheckOutcome("toy::c0::tools", "c0", "tools", "passed"),)


def test_a_bom_is_no_matter(tmp_path: Path) -> None:
    path = tmp_path / "bom.json"
    path.write_bytes(b"\xef\xbb\xbf" + json.dumps(minimal()).encode())

    assert len(read_outcomes(path).tests) == 1


def one_test(**fields: Any) -> dict[str, Any]:
    return minimal(tests=[{"nodeid": "toy::c0::tools", "repeat": 0, "outcome": "passed"} | fields])


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        ("{", ":1:2: not JSON"),
        ("[]", "[] is no outcomes file"),
        ("{}", "found nothing, where an outcomes file holds `eval` and `tests`"),
        ({"eval": {}}, "found 'eval', where an outcomes file"),
        ('{"eval": {}, "eval": {}, "tests": []}', "key 'eval' stands twice in one object; keep one"),
        ("[" * 100_000, "not usable JSON"),
        ({"tests": []}, "eval is missing"),
        ({"tests": [], "eval": None}, "eval: None is not an object"),
        (minimal(tests=[None]), "tests[0]: None is not an object"),
        (minimal(eval={"dataset": "", "cases_sha": "a"}), "should have at least 1 character, found ''"),
        (minimal(eval={"dataset": "d@1"}), "eval: neither cases_sha nor dataset_sha says which cases"),
        (minimal(eval={"dataset": "d@1", "cases_sha": "a", "k": "3"}), "eval.k: '3' is not a valid integer"),
        (
            minimal(eval={"dataset": "d@1", "cases_sha": "a", "case_sha": "b"}),
            "eval.case_sha: unknown key; did you mean 'cases_sha'?",
        ),
        (minimal(evil={}), "evil: unknown key; did you mean 'eval'?"),
        (minimal(format="eval-outcomes/2"), "format: 'eval-outcomes/2' is not 'eval-outcomes/1'"),
        (one_test(outcome="xfailed"), "tests[0].outcome: 'xfailed' is not"),
        (one_test(outcome="ok"), "tests[0].outcome: 'ok' is not"),
        (one_test(repeat=-1), "tests[0].repeat: -1 is not"),
        (one_test(repeat=True), "tests[0].repeat: True is not"),
        (one_test(gatng=True), "tests[0].gatng: unknown key"),
        (one_test(nodeid="toy::c0"), "tests[0].nodeid: 'toy::c0' is not suite::case::check"),
        (one_test(nodeid="other::c0::tools"), "'other::c0::tools' is not of suite 'toy'"),
        (one_test(outcome="error"), "tests[0]: an error without error_source"),
        (one_test(error_source="judge"), "tests[0]: passed, and yet with error_source 'judge'"),
        (minimal(tests=[*minimal()["tests"], *minimal()["tests"]]), "'toy::c0::tools' repeat 0 stands twice"),
        (
            minimal(tests=[*minimal()["tests"], minimal()["tests"][0] | {"repeat": 1, "gating": False}]),
            "'toy::c0::tools' gates in one repeat and not in another",
        ),
    ],
)
def test_what_is_no_outcomes_file_is_refused(tmp_path: Path, data: Any, problem: str) -> None:
    path = write(tmp_path, data)

    with pytest.raises(OutcomesError) as refusal:
        read_outcomes(path)

    assert str(refusal.value).startswith(f"{path}")
    assert problem in str(refusal.value)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(OutcomesError, match=r"gone\.json: cannot be read"):
        read_outcomes(tmp_path / "gone.json")


def test_an_imported_contract_must_hash_to_the_dataset_sha(tmp_path: Path) -> None:
    data = json.loads(outcomes_text(read_published(stage_report(), "report.json")))
    data["imported"]["contract"]["k"] = 1

    with pytest.raises(OutcomesError, match=r"eval\.dataset_sha is not the hash of imported\.contract"):
        read_outcomes(write(tmp_path, data))


def test_outcomes_come_from_scored_checks() -> None:
    scored = CheckResult(
        case_id="c0",
        repeat=1,
        stage="tools",
        outcome="passed",
        gating=True,
        threshold=1.0,
        reason="made up",
        score=Score(1.0, "made up"),
    )
    erred = CheckResult(
        case_id="c0",
        repeat=0,
        stage="label",
        outcome="error",
        gating=False,
        threshold=1.0,
        reason="made up",
        error_source="judge",
        judge_repeat=2,
    )

    assert outcomes_of_checks(eval_block(), [scored, erred]).tests == (
        CheckOutcome("toy::c0::tools", "c0", "tools", "passed", gating=True, repeat=1),
        CheckOutcome(
            "toy::c0::label", "c0", "label", "error", gating=False, judge_repeat=2, error_source="judge"
        ),
    )


def test_outcomes_need_a_suite_for_their_node_ids() -> None:
    with pytest.raises(OutcomesError, match=r"eval\.suite is missing"):
        outcomes_of_checks(eval_block(suite=...), [])
