"""The recording chat model: what it asks live, what it replays, and what it refuses to take for an answer."""

from __future__ import annotations

import asyncio

import pytest
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage

from eval_pipeline.errors import CallFailed, ProviderFault, RecordingMiss, SuiteError
from eval_pipeline.model_settings import ModelSettings
from eval_pipeline.models import Models
from eval_pipeline.recordings import Recordings, read_entries, scope
from eval_pipeline_tests.scripted import ScriptedConnector, call

QUESTION = [SystemMessage("Be kind."), HumanMessage("Hi")]


def ask(folder, reply=None, mode="none", messages=QUESTION, settings=None, case_id="c"):
    """One ask in a fresh process's eyes; the reply and the connector that was asked."""
    connector = ScriptedConnector(reply or (lambda messages: pytest.fail("asked live")))
    recordings = Recordings(folder, mode)
    model = Models(settings or ModelSettings(name="openai:m"), None, recordings, connector).chat()

    async def one():
        with scope(case_id):
            return await model.ainvoke(messages)

    try:
        return asyncio.run(one()), connector
    finally:
        recordings.close()


def test_what_was_recorded_is_replayed_without_a_client(tmp_path):
    live, _ = ask(tmp_path, lambda messages: AIMessage("Hello."), "new_episodes")
    replayed, connector = ask(tmp_path)
    assert live.text == replayed.text == "Hello."
    assert connector.made == 0


def test_random_tool_call_ids_are_counted_instead(tmp_path):
    def reply(messages):
        both = [
            {"name": "a", "args": {}, "id": "x9-random", "type": "tool_call"},
            {"name": "b", "args": {}, "id": "y7-random", "type": "tool_call"},
        ]
        return AIMessage(
            "", tool_calls=both, additional_kwargs={"tool_calls": both, "seen": {"x9-random": "y7-random"}}
        )

    live, _ = ask(tmp_path, reply, "new_episodes")
    replayed, _ = ask(tmp_path)
    for message in (live, replayed):
        assert [c["id"] for c in message.tool_calls] == ["call00001", "call00002"]
        assert message.additional_kwargs == {"seen": {"call00001": "call00002"}}


def test_ids_in_the_conversation_do_not_change_the_question(tmp_path):
    def conversation(id):
        return [HumanMessage("Hi", id=f"m-{id}"), call("a", {"n": 1}, id), HumanMessage("And?")]

    ask(tmp_path, lambda messages: AIMessage("Hello."), "new_episodes", conversation("one"))
    assert ask(tmp_path, messages=conversation("two"))[0].text == "Hello."


@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (AIMessage(""), "empty_answer"),
        (AIMessage("Well", response_metadata={"finish_reason": "length"}), "truncated"),
        (AIMessage("Well", response_metadata={"finish_reason": "MAX_TOKENS"}), "truncated"),
        (AIMessage("", response_metadata={"finish_reason": "SAFETY"}), "blocked"),
        (AIMessage("", response_metadata={"finish_reason": "MALFORMED_FUNCTION_CALL"}), "malformed_call"),
        (AIMessage("", additional_kwargs={"refusal": "No."}), "refused"),
        (
            AIMessage("", invalid_tool_calls=[{"name": "a", "args": "{", "id": "1", "error": None}]),
            "malformed_call",
        ),
    ],
)
def test_a_reply_that_is_no_answer_is_recorded_as_a_failure_and_raised_again(tmp_path, reply, kind):
    for mode, says in (("new_episodes", lambda messages: reply), ("none", None)):
        with pytest.raises(CallFailed) as caught:
            ask(tmp_path, says, mode)
        assert caught.value.kind == kind


def test_a_transient_fault_is_retried_and_never_recorded(tmp_path, monkeypatch):
    monkeypatch.setattr("eval_pipeline.models.retrying._backoff", lambda state: 0)
    attempts = []

    def reply(messages):
        attempts.append(1)
        if len(attempts) < 3:
            raise TimeoutError("slow")
        return AIMessage("Hello.")

    assert ask(tmp_path, reply, "new_episodes")[0].text == "Hello."
    assert len(attempts) == 3


def test_a_fault_that_stays_is_the_providers_and_leaves_no_recording(tmp_path, monkeypatch):
    monkeypatch.setattr("eval_pipeline.models.retrying._backoff", lambda state: 0)

    def reply(messages):
        raise ConnectionResetError("dropped")

    with pytest.raises(ProviderFault, match="openai:m: ConnectionResetError: dropped"):
        ask(tmp_path, reply, "new_episodes")
    with pytest.raises(RecordingMiss):
        ask(tmp_path)
    assert list(read_entries(tmp_path)) == []


def test_settings_are_part_of_the_question(tmp_path):
    ask(tmp_path, lambda messages: AIMessage("Hello."), "new_episodes")
    for settings, why in [
        (ModelSettings(name="openai:m", settings={"temperature": 1}), "parameters changed"),
        (ModelSettings(name="openai:m", weights="sha256:1"), "weights added"),
    ]:
        with pytest.raises(RecordingMiss, match=why):
            ask(tmp_path, settings=settings)


def test_an_entry_holds_no_secret_and_no_path_of_the_server(tmp_path):
    reply = AIMessage(
        "Hello.", response_metadata={"model_name": "/srv/secret/model.gguf", "finish_reason": "stop"}
    )
    ask(tmp_path, lambda messages: reply, "new_episodes")
    (entry,) = read_entries(tmp_path)
    assert entry.response["metadata"] == {"finish_reason": "stop"}


def test_the_sync_interface_says_what_to_use(tmp_path):
    model = Models(ModelSettings(name="openai:m"), None, Recordings(tmp_path), ScriptedConnector()).chat()
    with scope("c"), pytest.raises(NotImplementedError, match=r"await model\.ainvoke"):
        model.invoke("Hi")


def test_a_system_that_asks_a_model_that_its_candidate_does_not_name_is_told_so(tmp_path):
    with pytest.raises(SuiteError, match=r"the candidate names no `model` in suite\.yaml"):
        Models(None, None, Recordings(tmp_path)).chat()
