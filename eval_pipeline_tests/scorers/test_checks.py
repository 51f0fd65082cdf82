"""The four checks in code: an answer, the one expected tool, its argument, and the expected source."""

from __future__ import annotations

import pytest

from eval_pipeline.cases import Case, Known
from eval_pipeline.scorers.answer_present import AnswerPresent
from eval_pipeline.scorers.source import Source
from eval_pipeline.scorers.tool_argument import ToolArgument
from eval_pipeline.scorers.tool_choice import ToolChoice
from eval_pipeline.traces import NO_CALL, AgentTrace, RetrievedDocument, ToolCall

KNOWN = Known(frozenset({"return_policy"}), frozenset({"getOrderStatus", "getDeliveryDate"}))


def case(tool=None, argument=None, source=None) -> Case:
    return Case("c", "Where?", expected={"tool": tool, "argument": argument, "source": source})


def trace(*calls: tuple[str, str], answer="Yes.", retrieved=()) -> AgentTrace:
    return AgentTrace(
        "c",
        answer=answer,
        tool_calls=tuple(ToolCall(name, {"order_id": argument}, "result") for name, argument in calls),
        retrieved=tuple(RetrievedDocument(id, 1, 0.5, "text", NO_CALL) for id in retrieved),
    )


@pytest.mark.parametrize(("answer", "passes"), [("Yes.", True), ("", False), (" \n", False), (None, False)])
def test_answer_present_wants_one_sign(answer, passes):
    assert AnswerPresent().score(case(), trace(answer=answer)).value == float(passes)


@pytest.mark.parametrize(
    ("expected", "called", "passes"),
    [
        (None, [], True),
        (None, ["a"], False),  # a null tool means no tool at all
        ("a", [], False),
        ("a", ["a"], True),
        ("a", ["b"], False),
        ("a", ["b", "a", "b"], True),  # further calls of other tools are allowed
        ("a", ["a", "a"], True),
        ("a", ["A"], False),
    ],
)
def test_tool_choice(expected, called, passes):
    score = ToolChoice().score(case(expected), trace(*((name, "x") for name in called)))
    assert score.value == float(passes)
    assert score.details == {"called": called}


def test_a_right_answer_without_looking_fails_tool_choice():
    score = ToolChoice().score(case("getDeliveryDate", "ORD-102"), trace(answer="Yes, you can."))
    assert (score.value, score.reason) == (0.0, "getDeliveryDate expected, no tool called")


@pytest.mark.parametrize(
    ("calls", "passes"),
    [
        ([("a", "ORD-1")], True),
        ([("b", "x"), ("a", "y"), ("a", "ORD-1")], True),
        ([("a", "ORD-2")], False),
        ([("b", "ORD-1")], False),
        ([("a", "ORD-2"), ("b", "ORD-1")], False),  # not on one and the same call
        ([("a", "ord-1")], False),  # the system cleans what it records, the check compares
        ([], False),
    ],
)
def test_tool_argument_wants_tool_and_argument_on_one_call(calls, passes):
    assert ToolArgument().score(case("a", "ORD-1"), trace(*calls)).value == float(passes)


def test_an_argument_that_is_a_number_is_compared_as_text():
    made = AgentTrace("c", answer="x", tool_calls=(ToolCall("a", {"number": 212}, ""),))
    assert ToolArgument().score(case("a", "212"), made).value == 1.0


@pytest.mark.parametrize(
    ("expected", "applies"),
    [
        (case("a", "ORD-1"), True),
        (case("a", None), False),  # a null argument beside a tool leaves the argument unchecked
        (case(None, None), False),
    ],
)
def test_tool_argument_applies_where_both_are_expected(expected, applies):
    assert ToolArgument().applies(expected) is applies


@pytest.mark.parametrize(
    ("retrieved", "passes"),
    [(["return_policy"], True), (["x", "return_policy"], True), (["x"], False), ([], False)],
)
def test_source(retrieved, passes):
    score = Source().score(case(source="return_policy"), trace(retrieved=retrieved))
    assert (score.value, score.details) == (float(passes), {"retrieved": retrieved})


def test_a_null_source_is_not_checked():
    assert not Source().applies(case())


@pytest.mark.parametrize(
    ("scorer", "expected", "problems"),
    [
        (
            ToolChoice(),
            case("getOrderState"),
            ["expected.tool: no tool 'getOrderState'; did you mean 'getOrderStatus'?"],
        ),
        (ToolChoice(), case("getOrderStatus"), []),
        (ToolChoice(), case(), []),
        (
            ToolArgument(),
            case(None, "ORD-1"),
            ["expected.argument: there is no expected tool to take it; name the tool, or remove it"],
        ),
        (
            Source(),
            case(source="return_police"),
            ["expected.source: no document 'return_police'; did you mean 'return_policy'?"],
        ),
        (Source(), case(), []),
    ],
)
def test_expectations_that_cannot_be_met_are_problems(scorer, expected, problems):
    assert scorer.problems(expected, KNOWN) == problems
