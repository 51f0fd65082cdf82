"""Tool calls by constrained output, for models that call no tool on their own but keep to a JSON schema.

Each turn the model must answer one JSON object: a call of one of the tools, or the final answer. Tools are
described in the system prompt; earlier calls and their results are told as plain turns.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage

from eval_pipeline.errors import CallFailed

INSTRUCTIONS = """You have these tools:
{tools}

Each of your replies is one JSON object and nothing else:
{{"tool": NAME, "args": ARGUMENTS}} to call a tool, or
{{"answer": TEXT}} to give your final answer.
Do not answer from memory what a tool can tell you: call the tool first, then answer from its result."""

AFTER_RESULT = "If this is enough, reply with the answer; otherwise call another tool."


def render(
    messages: Sequence[BaseMessage], tools: Sequence[dict[str, Any]]
) -> tuple[list[BaseMessage], dict[str, Any]]:
    """What the model is really sent: plain messages, and the schema that its reply must fit.

    Args:
        messages: the conversation, tool calls and results included.
        tools: the tools in OpenAI's form, `{"type": "function", "function": {…}}`.
    """
    functions = [tool["function"] for tool in tools]
    listing = "\n".join(
        f"- {function['name']}: {function.get('description', '')} "
        f"Arguments: {json.dumps(_arguments(function), ensure_ascii=False)}"
        for function in functions
    )
    instructions = INSTRUCTIONS.format(tools=listing)
    rendered: list[BaseMessage] = []
    for message in messages:
        if isinstance(message, AIMessage) and message.tool_calls:
            rendered += [AIMessage(_call_text(call["name"], call["args"])) for call in message.tool_calls[:1]]
        elif isinstance(message, ToolMessage):
            rendered.append(HumanMessage(f"Result of {message.name}:\n{message.text}\n\n{AFTER_RESULT}"))
        elif isinstance(message, AIMessage):
            rendered.append(AIMessage(json.dumps({"answer": message.text}, ensure_ascii=False)))
        else:
            rendered.append(message)
    if rendered and isinstance(rendered[0], SystemMessage):
        rendered[0] = SystemMessage(f"{rendered[0].text}\n\n{instructions}")
    else:
        rendered.insert(0, SystemMessage(instructions))
    return rendered, reply_schema(functions)


def reply_schema(functions: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """JSON schema of one reply: a call of one of the functions, or an answer."""
    calls = [
        {
            "type": "object",
            "properties": {"tool": {"const": function["name"]}, "args": _arguments(function)},
            "required": ["tool", "args"],
            "additionalProperties": False,
        }
        for function in functions
    ]
    answer = {
        "type": "object",
        "properties": {"answer": {"type": "string"}},
        "required": ["answer"],
        "additionalProperties": False,
    }
    return {
        "title": "reply",
        "description": "A tool call or the final answer",
        "type": "object",
        "properties": {},  # LangChain takes no schema without it
        "anyOf": [*calls, answer],
    }


def parse(reply: AIMessage, names: Sequence[str]) -> AIMessage:
    """The raw JSON reply as an ordinary message: with a tool call, or with the answer as its text.

    Raises:
        CallFailed: when the reply is not JSON of the schema, or its answer is empty.
    """
    try:
        data = json.loads(reply.text)
    except ValueError as failure:
        raise CallFailed(
            "malformed_call", f"the reply is not JSON: {failure}: {reply.text[:200]!r}"
        ) from failure
    keep: dict[str, Any] = {
        "usage_metadata": reply.usage_metadata,
        "response_metadata": reply.response_metadata,
    }
    if isinstance(data, dict) and set(data) == {"answer"} and isinstance(data["answer"], str):
        if not data["answer"].strip():
            raise CallFailed("empty_answer", "the model answered nothing")
        return AIMessage(data["answer"], **keep)
    if isinstance(data, dict) and set(data) == {"tool", "args"} and isinstance(data["args"], dict):
        if data["tool"] in names:
            call = {"name": data["tool"], "args": data["args"], "id": "call00001", "type": "tool_call"}
            return AIMessage("", tool_calls=[call], **keep)
    raise CallFailed(
        "malformed_call", f"the reply is neither a tool call nor an answer: {reply.text[:200]!r}"
    )


def _arguments(function: dict[str, Any]) -> dict[str, Any]:
    schema = dict(function.get("parameters") or {"type": "object", "properties": {}})
    return {**schema, "additionalProperties": False}


def _call_text(name: str, arguments: dict[str, Any]) -> str:
    return json.dumps({"tool": name, "args": arguments}, ensure_ascii=False)
