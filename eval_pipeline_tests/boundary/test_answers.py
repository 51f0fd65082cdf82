"""What counts as an answer, and what a trace makes of it."""

import math

import pytest

from eval_pipeline.boundary.answers import read_answer
from eval_pipeline.boundary.returned import as_json
from eval_pipeline.errors import CallFailed, ProviderFault
from eval_pipeline.traces import AgentTrace, RetrievedDocument, ToolCall, TraceError, Usage


def test_a_text_is_the_answer():
    assert read_answer(as_json("Red."), "c") == AgentTrace("c", answer="Red.")


def test_names_and_ids_alone_are_tool_calls_and_documents():
    trace = read_answer({"answer": "Red.", "tool_calls": ["look_up"], "retrieved": ["apple", "pear"]}, "c")
    assert trace.tool_calls == (ToolCall("look_up", {}, ""),)
    assert [(found.id, found.rank, found.call) for found in trace.retrieved] == [
        ("apple", 1, -1),
        ("pear", 2, -1),
    ]
    assert math.isnan(trace.retrieved[0].score)
    assert trace.context == ()


def test_what_is_said_of_calls_and_documents_is_kept_and_makes_the_context():
    trace = read_answer(
        {
            "answer": "Red.",
            "tool_calls": [
                {"name": "look_up", "arguments": '{"page": "apple"}', "output": {"n": 1}, "id": "x"},
                {"name": "fails", "arguments": {}, "output": "no such page", "status": "error", "round": 2},
            ],
            "retrieved": [{"id": "apple", "text": "An apple is red.", "score": 0.5, "call": 0, "url": "…"}],
            "structured": {"colour": "red"},
        },
        "c",
    )
    assert trace.tool_calls == (
        ToolCall("look_up", {"page": "apple"}, '{"n": 1}'),
        ToolCall("fails", {}, "no such page", "error", 2),
    )
    assert trace.retrieved == (RetrievedDocument("apple", 1, 0.5, "An apple is red.", 0),)
    assert trace.context == ("An apple is red.", '{"n": 1}', "no such page")
    assert trace.structured == {"colour": "red"}


def test_a_trace_comes_back_as_it_was_but_for_what_the_run_itself_counts():
    trace = AgentTrace(
        "other",
        answer="Red.",
        tool_calls=(ToolCall("look_up", {"page": "apple"}, "text"),),
        retrieved=(RetrievedDocument("apple", 1, 0.5, "An apple is red.", 0),),
        context=("An apple is red.",),
        messages=({"role": "user", "content": "?"},),
        usage=Usage(3, 3, 12, 5),
    )
    plain = as_json(trace)
    assert plain["usage"] == {"input_tokens": 12, "output_tokens": 5}
    read = read_answer(plain, "c")
    assert (read.case_id, read.tool_calls, read.retrieved) == ("c", trace.tool_calls, trace.retrieved)
    assert (read.context, read.messages, read.usage) == (trace.context, trace.messages, Usage())


def test_a_structured_output_alone_is_an_answer():
    assert read_answer({"structured": {"a": 1}}, "c").structured == {"a": 1}


def nested(levels):
    return [nested(levels - 1)] if levels else "end"


@pytest.mark.parametrize(
    ("returned", "problem"),
    [
        ("", "empty_answer: the system answered nothing"),
        ({"answer": " \n"}, "empty_answer: the system answered nothing"),
        ({"anwser": "Red."}, "malformed_answer: anwser: Extra inputs are not permitted"),
        ({"answer": 1}, "malformed_answer: answer: Input should be a valid string"),
        ({"answer": "a", "tool_calls": [1]}, "malformed_answer: tool_calls.0: "),
        (
            {"answer": "a", "tool_calls": [{"name": "t", "arguments": "{"}]},
            "malformed_answer: tool_calls.0.arg",
        ),
        (None, "malformed_answer: returned NoneType; return text, a dict with `answer`, or an AgentTrace"),
        (42, "malformed_answer: returned int; return text, a dict with `answer`, or an AgentTrace"),
        (
            {"answer": "a", "structured": nested(101)},
            "malformed_answer: returned what is no plain JSON: nested",
        ),
        (
            {"answer": "a", "tool_calls": [{"name": "t", "round": 2**53 + 1}]},
            "malformed_answer: tool_calls.0.round",
        ),
        ({"answer": {1, 2}}, "malformed_answer: returned what is no plain JSON: "),
        ({"answer": "a", "structured": float("nan")}, "malformed_answer: returned what is no plain JSON: "),
    ],
)
def test_what_is_no_answer_is_the_system_s_fault(returned, problem):
    with pytest.raises(CallFailed) as failure:
        read_answer(as_json(returned), "c")
    assert str(failure.value).startswith(problem)


@pytest.mark.parametrize(("source", "kind"), [("system", CallFailed), ("provider", ProviderFault)])
def test_a_trace_that_broke_off_says_whose_fault_it_is(source, kind):
    with pytest.raises(kind, match="looped: ten rounds"):
        as_json(AgentTrace("c", error=TraceError(source, "looped", "ten rounds")))
