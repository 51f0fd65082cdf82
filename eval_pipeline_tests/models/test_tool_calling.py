"""Tool calls by constrained output."""

from __future__ import annotations

import pytest
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage

from eval_pipeline.errors import CallFailed
from eval_pipeline.models.tool_calling import AFTER_RESULT, parse, render

LOOK_UP = {
    "type": "function",
    "function": {
        "name": "look_up",
        "description": "Look a number up.",
        "parameters": {
            "type": "object",
            "properties": {"number": {"type": "integer"}},
            "required": ["number"],
        },
    },
}


def test_tools_and_their_schemas_stand_in_the_system_prompt():
    sent, _ = render([SystemMessage("Be kind."), HumanMessage("Hi")], [LOOK_UP])
    assert sent[0].text.startswith(
        "Be kind.\n\nYou have these tools:\n- look_up: Look a number up. Arguments: {"
    )
    assert sent[1].text == "Hi"


def test_a_conversation_without_a_system_prompt_gets_one():
    sent, _ = render([HumanMessage("Hi")], [LOOK_UP])
    assert isinstance(sent[0], SystemMessage)


def test_earlier_calls_and_results_are_told_as_plain_turns():
    calls = [{"name": "look_up", "args": {"number": 7}, "id": "call00001", "type": "tool_call"}]
    earlier = [
        HumanMessage("Hi"),
        AIMessage("", tool_calls=calls),
        ToolMessage("record 7", name="look_up", tool_call_id="call00001"),
        AIMessage("It is 7."),
    ]
    sent, _ = render(earlier, [LOOK_UP])
    assert [(m.type, m.text) for m in sent[1:]] == [
        ("human", "Hi"),
        ("ai", '{"tool": "look_up", "args": {"number": 7}}'),
        ("human", f"Result of look_up:\nrecord 7\n\n{AFTER_RESULT}"),
        ("ai", '{"answer": "It is 7."}'),
    ]
    assert not any(getattr(m, "tool_calls", None) for m in sent)


def test_the_reply_schema_allows_each_tool_with_its_arguments_or_an_answer():
    _, schema = render([HumanMessage("Hi")], [LOOK_UP])
    call, answer = schema["anyOf"]
    assert call["properties"]["tool"] == {"const": "look_up"}
    assert call["properties"]["args"]["properties"] == {"number": {"type": "integer"}}
    assert answer["required"] == ["answer"]


def test_a_call_becomes_a_tool_call():
    message = parse(AIMessage('{"tool": "look_up", "args": {"number": 7}}'), ["look_up"])
    assert [(c["name"], c["args"]) for c in message.tool_calls] == [("look_up", {"number": 7})]
    assert message.text == ""


def test_an_answer_becomes_the_text():
    message = parse(AIMessage('{"answer": "It is 7."}'), ["look_up"])
    assert (message.text, message.tool_calls) == ("It is 7.", [])


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        ('{"tool": "look_up", "args": {"num', "malformed_call"),
        ("It is 7.", "malformed_call"),
        ('{"tool": "drop", "args": {}}', "malformed_call"),
        ('{"tool": "look_up"}', "malformed_call"),
        ('{"answer": 7}', "malformed_call"),
        ('{"answer": "x", "tool": "look_up"}', "malformed_call"),
        ("[]", "malformed_call"),
        ('{"answer": "  "}', "empty_answer"),
    ],
)
def test_an_unusable_reply_is_a_typed_failure(reply, kind):
    with pytest.raises(CallFailed) as caught:
        parse(AIMessage(reply), ["look_up"])
    assert caught.value.kind == kind
