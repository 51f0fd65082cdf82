"""Replies that are none of the provider's, or hold what must not get out; and the texts of faults."""

from __future__ import annotations

import json
import logging
import time
import traceback

import pytest

from eval_pipeline.errors import CallFailed, EvalError
from eval_pipeline.models.faults import LONGEST_TEXT, classify
from eval_pipeline_tests.models.live_models import KEYS, LiveModels
from eval_pipeline_tests.provider_replies import Raw, Say, Status
from eval_pipeline_tests.provider_stub import vector_of


def ask(live: LiveModels, what: str, mode="new_episodes", **settings):
    return live.ask(mode=mode, **settings).text if what == "chat" else live.embed("abc", mode, **settings)


def test_an_error_that_a_router_sends_with_status_200_has_its_own(tmp_path, stub):
    live = LiveModels(stub, tmp_path, "openai")
    stub.script(Raw(b'{"error": {"message": "upstream", "code": 502}}'))
    assert live.ask().text == "ok"
    assert stub.calls == 2


@pytest.mark.parametrize(
    "body", [b'{"error": {"message": "busy", "code": 429}}', b"null", b"[]", b'{"a": 1}']
)
def test_json_that_is_no_reply_of_gemini_is_no_empty_answer(tmp_path, stub, body):
    live = LiveModels(stub, tmp_path, "google")
    stub.script(Raw(body))
    assert live.ask().text == "ok"
    assert stub.calls == 2
    assert [entry.failure for entry in live.recorded()] == [None]


def test_an_error_of_ollama_that_is_no_text_is_tried_again(tmp_path, stub):
    live = LiveModels(stub, tmp_path, "ollama")
    stub.script(Raw(b'{"error": {"message": "busy", "code": 429}}'))
    assert live.ask().text == "ok"
    assert stub.calls == 2


VECTORS = {
    "null": "[[1, null, 2]]",
    "text": '[[1, "b", 3]]',
    "infinite": "[[1, 1e999, 2]]",
    "not a number": "[[1, NaN, 2]]",
    "beyond float32": "[[1, 1e39, 2]]",
}


@pytest.mark.parametrize("vectors", VECTORS.values(), ids=VECTORS)
def test_a_vector_with_what_is_no_number_is_asked_again(tmp_path, stub, vectors):
    live = LiveModels(stub, tmp_path, "ollama")
    stub.script(Raw(f'{{"model": "stub", "embeddings": {vectors}}}'.encode()))
    assert live.embed("abc") == vector_of("abc")
    assert stub.calls == 2


def test_vectors_of_several_lengths_are_asked_again(tmp_path, stub):
    live = LiveModels(stub, tmp_path, "ollama")
    stub.script(Raw(b'{"model": "stub", "embeddings": [[1, 2, 3], [1, 2]]}'))
    assert live.run(lambda models: models.embeddings().aembed_documents(["a", "b"])) == [
        vector_of("a"),
        vector_of("b"),
    ]
    assert stub.calls == 2


@pytest.mark.parametrize(
    "arguments", ['{"day": NaN}', '{"day": 1e999}', '{"day": ' + "[" * 101 + "]" * 101 + "}"]
)
def test_arguments_that_no_recording_can_hold_are_a_recorded_failure(tmp_path, stub, arguments):
    live = LiveModels(stub, tmp_path, "openai")
    call = {"id": "1", "type": "function", "function": {"name": "forecast", "arguments": arguments}}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls"}
    body = {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}
    stub.script(Raw(json.dumps(body).encode()))
    for mode in ("new_episodes", "none"):
        with pytest.raises(CallFailed, match=r"malformed_call: .*'forecast' has un"):
            live.ask(mode=mode)
    assert stub.calls == 1


@pytest.mark.parametrize("what", ["chat", "embed"])
@pytest.mark.parametrize("code", [400, 401, 500])
def test_a_key_in_an_error_never_gets_out(live, what, code, caplog):
    caplog.set_level(logging.DEBUG)
    keys = [*KEYS.values(), "AIzaSyA0123456789abcdefghijklmnopqrstu"]
    told = f"Incorrect key {' '.join(keys)} at https://host/?key=abc123&a=1 and https://me:pa55word@host/"
    live.stub.answer = lambda asked: Status(code, told)
    with pytest.raises(EvalError) as caught:
        ask(live, what)
    shown = "".join(traceback.format_exception(caught.value))
    ours = [record.getMessage() for record in caplog.records if record.name.startswith("eval_pipeline")]
    stored = "".join(path.read_text() for path in live.folder.rglob("*.jsonl"))
    for text in (shown, "\n".join(ours), stored):
        for secret in (*keys, "abc123", "pa55word"):
            assert secret not in text
    assert "***" in shown


def test_a_key_in_a_reply_is_not_recorded_and_replay_equals_live(live):
    live.stub.script(Say(f"Your key is {KEYS['OPENAI_API_KEY']}."))
    reply = live.ask()
    assert reply.text == "Your key is ***."
    assert live.ask(mode="none").text == reply.text


def test_a_whole_page_is_cut():
    text = classify(ValueError("x" * 10_000)).text
    assert len(text) == LONGEST_TEXT + 1
    assert text.endswith("x…")


def test_a_long_word_takes_no_time_of_its_square():
    started = time.process_time()
    classify(ValueError("x" * 1_000_000))
    assert time.process_time() - started < 5  # in the square of the length it is minutes


def test_a_key_at_the_cut_leaves_no_half(monkeypatch):
    monkeypatch.setenv("APP_KEY", "fake-key-0123456789")
    # "ValueError: " and 483 letters are 495 characters: five of the key would stand before the cut.
    text = classify(ValueError("x" * 483 + "fake-key-0123456789")).text
    assert text == f"ValueError: {'x' * 483}***"


def test_addresses_of_objects_are_left_out_of_texts():
    failure = OSError("Cannot connect to host h:1 ssl:<ssl.SSLContext object at 0x7f4e8a7e22a0> [refused]")
    assert classify(failure).text == "OSError: Cannot connect to host h:1 [refused]"


def test_what_nobody_knows_is_not_tried_again():
    fault = classify(RuntimeError("bug"))
    assert (fault.kind, fault.transient, fault.of_this_request) == ("client_error", False, False)
