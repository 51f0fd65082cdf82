"""The trajectory of an agent run, also of one that breaks off."""

from __future__ import annotations

import asyncio

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.tools import tool

from eval_pipeline.cases import Case
from eval_pipeline.errors import CallFailed, ProviderFault
from eval_pipeline.langchain_agent import ToolFailuresToModel, run_agent
from eval_pipeline_tests.scripted import ScriptedChatModel, call


@tool(response_format="content_and_artifact")
async def search(query: str) -> tuple[str, list[dict]]:
    """Search."""
    if query == "boom":
        raise ValueError("the index is gone")
    pages = [
        {"id": f"{query}-{rank}", "rank": rank, "score": 1 / rank, "text": f"text {rank}"} for rank in (1, 2)
    ]
    return "two pages", pages


@tool
async def look_up(number: int) -> str:
    """Look up."""
    return f"record {number}"


def run(reply, max_tool_rounds=5, question="What?"):
    model = ScriptedChatModel(reply=reply, asked=[])
    agent = create_agent(model, [search, look_up], system_prompt="hi", middleware=[ToolFailuresToModel()])
    trace = asyncio.run(run_agent(agent, Case("c", question), max_tool_rounds=max_tool_rounds))
    return trace, model.asked


def queue(*replies):
    left = list(replies)

    def reply(messages):
        following = left.pop(0)
        if isinstance(following, Exception):
            raise following
        return following

    return reply


def test_a_trace_keeps_calls_results_documents_context_and_answer():
    trace, _ = run(
        queue(call("look_up", {"number": 7}), call("search", {"query": "q"}, "random-2"), AIMessage("Done."))
    )
    assert [(c.name, c.arguments, c.output, c.status, c.round) for c in trace.tool_calls] == [
        ("look_up", {"number": 7}, "record 7", "ok", 1),
        ("search", {"query": "q"}, "two pages", "ok", 2),
    ]
    assert [(d.id, d.rank, d.score, d.call) for d in trace.retrieved] == [
        ("q-1", 1, 1.0, 1),
        ("q-2", 2, 0.5, 1),
    ]
    assert trace.context == ("text 1", "text 2", "record 7")  # search results first
    assert trace.answer == "Done."
    assert trace.error is None
    assert [message["role"] for message in trace.messages] == ["human", "ai", "tool", "ai", "tool", "ai"]


def test_an_answer_of_content_blocks_becomes_its_text():
    trace, _ = run(queue(AIMessage([{"type": "text", "text": "In "}, {"type": "text", "text": "parts."}])))
    assert trace.answer == "In parts."


@pytest.mark.parametrize("empty", [AIMessage(""), AIMessage(" \n"), AIMessage([])])
def test_an_empty_answer_is_an_error_of_the_system(empty):
    trace, _ = run(queue(empty))
    assert trace.answer is None
    assert (trace.error.source, trace.error.kind) == ("system", "empty_answer")


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        (call("search", {"query": "boom"}), "Error: search failed: ValueError: the index is gone"),
        (call("delete_all", {}), "delete_all is not a valid tool"),
        (call("look_up", {"number": "seven"}), "number"),
        (call("look_up", {}), "number"),
    ],
    ids=["raising tool", "unknown tool", "bad argument", "missing argument"],
)
def test_a_failed_tool_call_is_in_the_trace_and_told_to_the_model(asked, told):
    trace, conversations = run(queue(asked, AIMessage("Sorry.")))
    assert trace.error is None
    assert trace.answer == "Sorry."
    (failed,) = trace.tool_calls
    assert failed.status == "error"
    assert told in failed.output
    assert trace.context == ()  # a failed call supports nothing
    result = conversations[1][-1]
    assert isinstance(result, ToolMessage)
    assert told in result.text


def test_five_tool_rounds_are_allowed():
    replies = [call("look_up", {"number": n}, f"random-{n}") for n in range(5)]
    trace, _ = run(queue(*replies, AIMessage("Done.")))
    assert trace.error is None
    assert len(trace.tool_calls) == 5


def test_a_sixth_tool_round_is_an_error_that_keeps_the_partial_trace():
    counted = []

    def reply(messages):
        counted.append(1)
        return call("look_up", {"number": len(counted)}, f"random-{len(counted)}")

    trace, _ = run(reply)
    assert (trace.error.source, trace.error.kind) == ("system", "tool_limit")
    assert [c.output for c in trace.tool_calls] == [
        *(f"record {n}" for n in range(1, 6)),
        "",
    ]  # the sixth never ran
    assert trace.answer is None


@pytest.mark.parametrize(
    ("raised", "source", "kind"),
    [
        (CallFailed("truncated", "stopped with 'length'"), "system", "truncated"),
        (ProviderFault("http_503", "overloaded"), "provider", "http_503"),
        (RuntimeError("bug"), "system", "raised"),
    ],
)
def test_a_call_that_fails_keeps_what_came_before(raised, source, kind):
    trace, _ = run(queue(call("look_up", {"number": 1}), raised))
    assert (trace.error.source, trace.error.kind) == (source, kind)
    assert [c.output for c in trace.tool_calls] == ["record 1"]


def test_fifty_runs_at_once_do_not_mix():
    def reply(messages):
        question = next(m for m in messages if isinstance(m, HumanMessage)).text
        if isinstance(messages[-1], ToolMessage):
            return AIMessage(f"{question} got {messages[-1].text}")
        return call("look_up", {"number": int(question)})

    agent = create_agent(
        ScriptedChatModel(reply=reply, asked=[]),
        [look_up],
        system_prompt="hi",
        middleware=[ToolFailuresToModel()],
    )

    async def all_at_once():
        return await asyncio.gather(*(run_agent(agent, Case(f"c{n}", str(n))) for n in range(50)))

    for n, trace in enumerate(asyncio.run(all_at_once())):
        assert trace.case_id == f"c{n}"
        assert trace.answer == f"{n} got record {n}"
        assert [c.arguments for c in trace.tool_calls] == [{"number": n}]
