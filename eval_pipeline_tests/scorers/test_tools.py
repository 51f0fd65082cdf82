import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from eval_pipeline.cases import Case, Known
from eval_pipeline.scorers.tools import ToolCalls
from eval_pipeline.scores import Score
from eval_pipeline.traces import AgentTrace, ToolCall

NAMES = st.lists(st.sampled_from(["search_docs", "get_issue", "get_order"]), max_size=5)


def score_calls(expected: list[str], called: list[str]) -> Score:
    calls = tuple(ToolCall(name, {}, "found") for name in called)
    return ToolCalls().score(Case("c", "q", expected={"tools": expected}), AgentTrace("c", tool_calls=calls))


@pytest.mark.parametrize(
    ("expected", "called", "value", "missing", "unexpected"),
    [
        ([], [], 1.0, [], []),
        ([], ["a"], 0.0, [], ["a"]),
        (["a"], ["a"], 1.0, [], []),
        (["a"], [], 0.0, ["a"], []),
        (["a", "b"], ["b"], 0.5, ["a"], []),
        (["a", "b"], ["b", "a"], 1.0, [], []),
        (["a", "a"], ["a"], 0.5, ["a"], []),
        (["a", "a"], ["a", "a"], 1.0, [], []),
        (["a"], ["a", "a"], 1.0, [], ["a"]),
        (["a"], ["c", "b", "a"], 1.0, [], ["b", "c"]),
        (["a"], ["b"], 0.0, ["a"], ["b"]),
    ],
)
def test_expected_and_called_are_compared_as_multisets(expected, called, value, missing, unexpected) -> None:
    score = score_calls(expected, called)

    assert score.value == value
    assert score.details == {"unexpected": unexpected, "missing": missing}
    assert score.passed is (False if unexpected else None)


def test_an_unexpected_call_fails_the_check_though_every_expected_call_was_made() -> None:
    score = score_calls(["search_docs"], ["search_docs", "get_issue"])

    assert score.value == 1.0
    assert score.passed is False
    assert score.reason == "unexpected: get_issue"


def test_the_reason_counts_the_calls_made_and_names_the_missing_ones() -> None:
    assert score_calls(["b", "a", "a"], ["a"]).reason == "1 of 3 expected calls made; missing: a, b"


def test_a_call_whose_tool_failed_counts_as_made() -> None:
    trace = AgentTrace(
        "c", tool_calls=(ToolCall("get_issue", {"number": 9}, "no such issue", status="error"),)
    )

    assert ToolCalls().score(Case("c", "q", expected={"tools": ["get_issue"]}), trace).value == 1.0


@pytest.mark.parametrize("expected", [{}, {"tools": None}])
def test_the_check_does_not_apply_where_the_case_says_nothing_of_tools(expected) -> None:
    assert not ToolCalls().applies(Case("c", "q", expected=expected))


@pytest.mark.parametrize("tools", [[], ["search_docs"]])
def test_the_check_applies_where_the_case_says_which_tools_it_expects(tools) -> None:
    assert ToolCalls().applies(Case("c", "q", expected={"tools": tools}))


def test_a_misspelt_tool_is_a_problem_that_names_the_right_one() -> None:
    known = Known(tools=frozenset(["search_docs", "get_issue"]))
    case = Case("c", "q", expected={"tools": ["serch_docs", "get_issue", "serch_docs"]})

    assert ToolCalls().problems(case, known) == [
        "expected.tools: no tool 'serch_docs'; did you mean 'search_docs'?"
    ]


def test_tools_are_not_checked_against_a_system_that_declares_none() -> None:
    assert ToolCalls().problems(Case("c", "q", expected={"tools": ["search_docs"]}), Known()) == []


def test_an_unknown_expectation_is_refused() -> None:
    with pytest.raises(ValidationError, match="tool"):
        ToolCalls.Expected.model_validate({"tool": ["search_docs"]})


@given(expected=NAMES, called=NAMES, data=st.data())
def test_the_order_of_calls_never_changes_the_score(expected, called, data) -> None:
    shuffled = data.draw(st.permutations(called))

    assert score_calls(expected, shuffled) == score_calls(expected, called)


@given(expected=NAMES, called=NAMES)
def test_one_more_unexpected_call_never_lets_a_check_pass(expected, called) -> None:
    assert score_calls(expected, [*called, "delete_everything"]).passed is False
