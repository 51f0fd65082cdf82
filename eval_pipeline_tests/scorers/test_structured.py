from typing import Any

import pytest
from pydantic import ValidationError

from eval_pipeline.cases import Case
from eval_pipeline.scorers.structured import FieldEquals, MatchesSchema
from eval_pipeline.scores import Score
from eval_pipeline.traces import AgentTrace

TRIAGE = "eval_pipeline.systems.issue_triage:Triage"
GOOD = {"label": "bug", "priority": "p1", "summary": "sync fails"}


def match(answer: str | None = None, structured: Any = None) -> Score:
    trace = AgentTrace("c", answer=answer, structured=structured)
    return MatchesSchema(TRIAGE).score(Case("c", "q"), trace)


def equals(field: str, expected: Any, structured: Any) -> Score:
    trace = AgentTrace("c", answer="{}", structured=structured)
    return FieldEquals(field).score(Case("c", "q", expected={field: expected}), trace)


@pytest.mark.parametrize(
    ("trace", "why"),
    [
        ({"structured": GOOD}, None),
        ({"answer": '{"label": "docs", "priority": "p2", "summary": "s"}'}, None),
        ({"answer": "It is a bug."}, "the reply is not JSON: Expecting value: line 1 column 1 (char 0)"),
        ({"answer": None}, "the reply is not JSON: Expecting value: line 1 column 1 (char 0)"),
        (
            {"answer": '{"label": "bug", "priority": "high", "summary": "s"}'},
            "the reply is no Triage: priority: input should be 'p0', 'p1' or 'p2', found \"high\"",
        ),
        ({"structured": {**GOOD, "summary": " "}}, 'the reply is no Triage: summary: blank, found " "'),
        ({"structured": {**GOOD, "why": "x"}}, "the reply is no Triage: why is no field of it"),
    ],
)
def test_a_reply_fits_its_schema_or_says_where_it_does_not(trace: dict[str, Any], why: str | None) -> None:
    score = match(**trace)
    assert (score.value, score.passed) == ((1.0, True) if why is None else (0.0, False))
    assert score.reason == (why or "the reply is a whole Triage")


def test_the_schema_is_part_of_the_checks_parameters() -> None:
    own, other = MatchesSchema(TRIAGE), MatchesSchema("eval_pipeline.suite_files:StageFields")
    assert len(own.schema_sha) == 12
    assert own.schema_sha != other.schema_sha


@pytest.mark.parametrize(
    ("expected", "found", "passed", "reason"),
    [
        ("bug", "bug", True, "label is 'bug'"),
        ("bug", "docs", False, "label is 'docs' instead of 'bug'"),
        ("bug", "Bug", False, "label is 'Bug' instead of 'bug'"),
        (1, True, False, "label is True instead of 1"),
        (["a", "b"], ["b", "a"], False, "label is ['b', 'a'] instead of ['a', 'b']"),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, True, "label is {'b': 2, 'a': 1}"),
        (False, False, True, "label is False"),
    ],
)
def test_a_field_equals_what_is_expected_as_json(
    expected: Any, found: Any, passed: bool, reason: str
) -> None:
    score = equals("label", expected, {"label": found})
    assert (score.value, score.passed, score.reason) == (float(passed), passed, reason)
    assert score.details == {"expected": expected, "found": found}


@pytest.mark.parametrize(
    ("structured", "reason"),
    [
        (None, "there is no structured answer, and so no label"),
        (["label"], "there is no structured answer, and so no label"),
        ({"priority": "p1"}, "the structured answer has no label"),
    ],
)
def test_an_answer_without_the_field_fails_and_is_no_error(structured: Any, reason: str) -> None:
    score = equals("label", "bug", structured)
    assert (score.value, score.passed, score.reason) == (0.0, False, reason)


def test_it_applies_to_the_cases_that_expect_something_of_the_field() -> None:
    scorer = FieldEquals("label")
    assert scorer.applies(Case("c", "q", expected={"label": False}))
    assert not scorer.applies(Case("c", "q", expected={"label": None}))
    assert not scorer.applies(Case("c", "q", expected={"priority": "p1"}))


def test_with_a_schema_a_case_can_expect_what_the_field_can_hold_alone() -> None:
    expected = FieldEquals("label", TRIAGE).Expected
    assert expected(label="docs").model_dump() == {"label": "docs"}
    assert expected().model_dump() == {"label": None}
    with pytest.raises(ValidationError, match="'bug', 'feature', 'docs' or 'question'"):
        expected(label="dosc")
    with pytest.raises(ValidationError, match="Extra inputs"):
        expected(lable="docs")


@pytest.mark.parametrize(
    ("parameters", "why"),
    [
        ({"field": "no-name"}, "'no-name' cannot be a key of `expected`"),
        ({"field": "_label"}, "'_label' cannot be a key of `expected`"),
        ({"field": "json"}, "'json' cannot be a key of `expected`"),
        ({"field": "lable", "schema": TRIAGE}, "has no 'lable'; did you mean 'label'?"),
        ({"field": "label", "schema": TRIAGE[:-1]}, "is no pydantic model; did you mean 'Triage'?"),
        ({"field": "label", "schema": "no_such_module:Triage"}, "no module 'no_such_module'"),
    ],
)
def test_a_field_or_schema_that_does_not_exist_is_refused(parameters: dict[str, str], why: str) -> None:
    with pytest.raises(ValueError, match=why.replace("?", r"\?")):
        FieldEquals(**parameters)
