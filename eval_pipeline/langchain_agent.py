"""Runs a LangChain agent and keeps its whole trajectory, also when the run breaks off."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from langchain.agents.middleware import AgentMiddleware
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage

from eval_pipeline.cases import Case
from eval_pipeline.errors import CallFailed, EvalError, ProviderFault
from eval_pipeline.failure_text import failure_text
from eval_pipeline.traces import AgentTrace, RetrievedDocument, ToolCall, ToolStatus, TraceError


class ToolFailuresToModel(AgentMiddleware[Any, Any, Any]):
    """Tells the model of a tool that raised, instead of ending the run."""

    async def awrap_tool_call(
        self, request: Any, handler: Callable[[Any], Awaitable[ToolMessage | Any]]
    ) -> ToolMessage | Any:
        """Call the tool; its exception becomes a failed tool result."""
        try:
            return await handler(request)
        except EvalError:
            raise  # a missing recording or an unreachable provider is no fault of the tool
        except Exception as failure:  # a tool may raise anything
            call = request.tool_call
            text = f"Error: {call['name']} failed: {type(failure).__name__}: {failure}"
            return ToolMessage(text, name=call["name"], tool_call_id=call["id"], status="error")


async def run_agent(
    agent: Any, case: Case, *, max_tool_rounds: int = 5, system_prompt: str | None = None
) -> AgentTrace:
    """Run a `create_agent` graph on a case's question.

    Args:
        agent: the compiled graph.
        case: its input is sent as the user's message.
        max_tool_rounds: model turns that may call tools; one more is an error of the case.
        system_prompt: one of this run alone, for an agent that was created without.

    Raises:
        RecordingMiss: when a model call has no recording.
    """
    started = time.perf_counter()
    messages: list[BaseMessage] = []
    error: TraceError | None = None
    prompt = [] if system_prompt is None else [{"role": "system", "content": system_prompt}]
    question = {"messages": [*prompt, {"role": "user", "content": case.question}]}
    # Streaming keeps the state reached when a call raises; `ainvoke` would lose it.
    stream = agent.astream(question, {"recursion_limit": 10 * max_tool_rounds + 10}, stream_mode="values")
    try:
        async for state in stream:
            messages = state["messages"]
            if len(_tool_turns(messages)) > max_tool_rounds:
                error = TraceError(
                    "system", "tool_limit", f"still calling tools after {max_tool_rounds} rounds"
                )
                break
    except CallFailed as failure:
        error = TraceError("system", failure.kind, failure.message)
    except ProviderFault as failure:
        error = TraceError("provider", failure.kind, failure.message)
    except EvalError:
        raise
    except Exception as failure:  # the system under test may raise anything
        error = TraceError("system", "raised", failure_text(failure))
    finally:
        await stream.aclose()
    answer = _answer(messages)
    if error is None and not answer:
        error = TraceError("system", "empty_answer", "the agent ended without an answer")
    calls, retrieved, context = _trajectory(messages)
    return AgentTrace(
        case_id=case.id,
        answer=answer,
        tool_calls=calls,
        retrieved=retrieved,
        context=context,
        messages=tuple(_plain(message) for message in messages),
        latency_ms=(time.perf_counter() - started) * 1000,
        error=error,
    )


def _tool_turns(messages: Sequence[BaseMessage]) -> list[AIMessage]:
    return [message for message in messages if isinstance(message, AIMessage) and message.tool_calls]


def _answer(messages: Sequence[BaseMessage]) -> str | None:
    last = messages[-1] if messages else None
    if isinstance(last, AIMessage) and not last.tool_calls:
        return last.text.strip() or None
    return None


def _trajectory(
    messages: Sequence[BaseMessage],
) -> tuple[tuple[ToolCall, ...], tuple[RetrievedDocument, ...], tuple[str, ...]]:
    """Every call with its result; the documents in the order seen; their texts before other results."""
    results = {m.tool_call_id: m for m in messages if isinstance(m, ToolMessage)}
    calls: list[ToolCall] = []
    retrieved: list[RetrievedDocument] = []
    other: list[str] = []
    for turn, message in enumerate(_tool_turns(messages), 1):
        for call in message.tool_calls:
            result = results.get(call["id"] or "")
            output = "" if result is None else result.text
            status: ToolStatus = "ok" if result is not None and result.status == "success" else "error"
            documents = result.artifact if result is not None and isinstance(result.artifact, list) else []
            retrieved += [
                RetrievedDocument(d["id"], d["rank"], d["score"], d["text"], call=len(calls))
                for d in documents
            ]
            if status == "ok" and not documents:
                other.append(output)
            calls.append(ToolCall(call["name"], call["args"], output, status, turn))
    texts = dict.fromkeys(document.text for document in retrieved)
    return tuple(calls), tuple(retrieved), (*texts, *dict.fromkeys(other))


def _plain(message: BaseMessage) -> dict[str, Any]:
    plain: dict[str, Any] = {"role": message.type, "content": message.text}
    if isinstance(message, AIMessage) and message.tool_calls:
        plain["tool_calls"] = [
            {"name": call["name"], "arguments": call["args"], "id": call["id"]} for call in message.tool_calls
        ]
    if isinstance(message, ToolMessage):
        plain |= {"name": message.name, "tool_call_id": message.tool_call_id, "status": message.status}
    return plain
