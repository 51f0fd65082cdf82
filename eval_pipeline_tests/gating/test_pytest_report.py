from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from eval_pipeline.gating.decide import decide
from eval_pipeline.gating.outcome_files import read_outcomes
from eval_pipeline.gating.outcomes import Outcomes, OutcomesError
from eval_pipeline.gating.policy import Policy

EVAL = {"dataset": "docs@1", "dataset_sha": "a", "model": "ollama:small", "prompt_version": "v1"}


def report(folder: Path, outcomes: dict[str, Any], **fields: Any) -> Path:
    """A report as pytest-json-report writes it, with more than a gate reads."""
    tests = [
        {
            "nodeid": f"tests/test_docs.py::{name}",
            "lineno": 7,
            "keywords": [name],
            "setup": {"duration": 0.001, "outcome": "passed"},
            **(outcome if isinstance(outcome, dict) else {"outcome": outcome}),
        }
        for name, outcome in outcomes.items()
    ]
    data = {
        "created": 1.0,
        "duration": 0.5,
        "exitcode": 0,
        "root": "/somewhere",
        "environment": {},
        "summary": {"total": len(tests)},
        "collectors": [],
        "tests": tests,
        "eval": EVAL,
    }
    path = folder / f"{len(list(folder.iterdir()))}.json"
    path.write_text(json.dumps(data | fields))
    return path


def read(folder: Path, outcomes: dict[str, Any], **fields: Any) -> Outcomes:
    return read_outcomes(report(folder, outcomes, **fields))


def test_outcomes_stay_distinct(tmp_path: Path) -> None:
    names = ["passed", "failed", "error", "skipped", "xfailed", "xpassed"]

    outcomes = read(tmp_path, {f"test_tools[{name}]": name for name in names})

    assert [(test.case, test.check, test.outcome) for test in outcomes.tests] == [
        (name, "test_tools", name) for name in names
    ]


@pytest.mark.parametrize("outcome", ["failed", "error", "skipped", "xfailed", "xpassed"])
def test_nothing_but_passed_counts_as_passed(tmp_path: Path, outcome: str) -> None:
    before = read(tmp_path, {"test_tools[a]": "passed", "test_tools[b]": "passed"})
    after = read(tmp_path, {"test_tools[a]": outcome, "test_tools[b]": "passed"})

    decision = decide(before, after, Policy(min_pass_rate=0))

    assert decision.verdict in ("block", "inconclusive")
    assert decision.rates[0].candidate.passed == 1


def test_a_test_may_say_whose_fault_it_was_and_that_it_only_advises(tmp_path: Path) -> None:
    outcomes = read(
        tmp_path,
        {
            "test_tools[a]": {"outcome": "failed", "metadata": {"error_source": "provider", "seconds": 3}},
            "test_tools[b]": {"outcome": "failed", "metadata": {"gating": False}},
            "test_tools[c]": {"outcome": "passed", "metadata": {"repeat": 2}},
        },
    )

    assert [(t.outcome, t.error_source, t.gating, t.repeat) for t in outcomes.tests] == [
        ("error", "provider", True, 0),
        ("failed", None, False, 0),
        ("passed", None, True, 2),
    ]


def test_what_the_block_leaves_out_is_not_compared_and_that_is_said(tmp_path: Path) -> None:
    before = read(tmp_path, {"test_tools[a]": "passed"})
    after = read(tmp_path, {"test_tools[a]": "passed"}, eval=EVAL | {"judge_id": "judge-b"})

    decision = decide(before, after, Policy())

    assert decision.verdict == "pass"
    assert any("absent from baseline: judge_id" in note for note in decision.notes)


def test_another_dataset_is_incomparable(tmp_path: Path) -> None:
    before = read(tmp_path, {"test_tools[a]": "passed"})
    after = read(tmp_path, {"test_tools[a]": "passed"}, eval=EVAL | {"dataset_sha": "b"})

    assert decide(before, after, Policy()).verdict == "incomparable"


def test_critical_names_mean_parametrized_tests(tmp_path: Path) -> None:
    outcomes = read(tmp_path, {"test_tools[a]": "failed", "test_label[a]": "passed"})
    policy = Policy(critical=("test_tools",), min_pass_rate=0)

    decision = decide(outcomes, outcomes, policy)

    assert [test.nodeid for test in decision.critical_failures] == ["tests/test_docs.py::test_tools[a]"]


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        (
            {"eval": {"dataset": "docs@1"}},
            "eval: neither cases_sha nor dataset_sha says which cases these are",
        ),
        ({"eval": EVAL | {"dataset_hsa": "b"}}, "eval.dataset_hsa: unknown key; did you mean 'dataset_sha'?"),
        ({"tests": [{"nodeid": "a", "outcome": "rerun"}]}, "tests[0].outcome: 'rerun' is not"),
        (
            {"tests": [{"nodeid": "a", "outcome": "passed", "metadata": {"error_source": "judge"}}]},
            "tests[0]: passed, and yet with error_source 'judge'",
        ),
        ({"tests": [{"nodeid": "a", "outcome": "passed"}] * 2}, "'a' repeat 0 stands twice; keep one"),
    ],
)
def test_what_a_gate_cannot_use_is_refused(tmp_path: Path, fields: dict[str, Any], problem: str) -> None:
    with pytest.raises(OutcomesError) as refusal:
        read(tmp_path, {}, **fields)

    assert problem in str(refusal.value)


@pytest.mark.parametrize(
    ("key", "remedy"), [("eval", "pytest_json_modifyreport"), ("tests", "--json-report-omit")]
)
def test_a_report_without_a_part_says_how_to_get_it(tmp_path: Path, key: str, remedy: str) -> None:
    path = report(tmp_path, {})
    data = json.loads(path.read_text())
    del data[key]
    path.write_text(json.dumps(data))

    with pytest.raises(OutcomesError, match=f"without `{key}`.*{remedy}"):
        read_outcomes(path)
