"""What each provider's failures become: another attempt, a recorded failure, or a fault at once."""

from __future__ import annotations

import pytest

from eval_pipeline.errors import CallFailed, ProviderFault
from eval_pipeline.models.retrying import ATTEMPTS
from eval_pipeline_tests.models.live_models import CHAT, EMBEDDER, PROTOCOLS, LiveModels
from eval_pipeline_tests.provider_replies import Close, Drop, Empty, Hang, Raw, Say, Status
from eval_pipeline_tests.provider_stub import vector_of

SHORT_S = 0.05
"""A timeout where no attempt is to be answered."""
ENOUGH_S = 0.5
"""A timeout where the second attempt is to be, on a busy machine."""
TRANSIENT = {
    "429": (Status(429), "http_429", "HTTP 429"),
    "500": (Status(500), "http_500", "HTTP 500"),
    "503": (Status(503), "http_503", "HTTP 503"),
    "timeout": (Hang(), "timeout", f"no answer within {SHORT_S} s"),
    "dropped": (Drop(), "connection", "see that the server runs"),
    "closed": (Close(), "connection", "see that the server runs"),
    "cut off": (Raw(b'{"cand'), "malformed_body", "the API's own address"),
    "a page": (Raw(b"<html>", content_type="text/html"), "malformed_body", "the API's own address"),
}
transient = pytest.mark.parametrize(("fault", "kind", "says"), TRANSIENT.values(), ids=TRANSIENT)


def assert_every_attempt_came(live: LiveModels, kind: str) -> None:
    """On a busy machine the time may be over before the stub is reached, and only then."""
    assert live.stub.calls == ATTEMPTS or (kind == "timeout" and live.stub.calls < ATTEMPTS)


def ask(live: LiveModels, what: str, mode="new_episodes", **settings):
    return live.ask(mode=mode, **settings).text if what == "chat" else live.embed("abc", mode, **settings)


@pytest.mark.parametrize("what", ["chat", "embed"])
@transient
def test_what_passes_is_asked_again(live, what, fault, kind, says):
    live.stub.script(fault)
    expected = "ok" if what == "chat" else vector_of("abc")
    timeout = {"timeout_s": ENOUGH_S} if kind == "timeout" else {}
    assert ask(live, what, **timeout) == expected
    assert live.stub.calls == 2  # the SDK made no attempt of its own
    assert ask(live, what, mode="none") == expected
    assert len(live.recorded()) == 1  # the fault is not


@pytest.mark.parametrize("what", ["chat", "embed"])
@transient
def test_what_stays_is_the_providers_fault_and_not_recorded(live, what, fault, kind, says):
    live.stub.answer = lambda asked: fault
    timeout = {"timeout_s": SHORT_S} if kind == "timeout" else {}
    with pytest.raises(ProviderFault) as caught:
        ask(live, what, **timeout)
    name = (CHAT if what == "chat" else EMBEDDER)[live.protocol]
    assert caught.value.kind == kind
    assert caught.value.message.startswith(f"{name}: ")
    assert says in caught.value.message
    assert f"tried {ATTEMPTS} times" in caught.value.message
    assert_every_attempt_came(live, kind)
    assert live.recorded() == []


@transient
def test_pages_that_are_not_awaited_fail_alike(live, fault, kind, says):
    live.stub.answer = lambda asked: fault

    async def work(models):
        return models.embeddings().embed_documents(["a", "b"])

    timeout = {"timeout_s": SHORT_S} if kind == "timeout" else {}
    with pytest.raises(ProviderFault) as caught:
        live.run(work, **timeout)
    assert caught.value.kind == kind
    assert_every_attempt_came(live, kind)


def test_a_reply_without_vectors_is_no_embedding(live):
    live.stub.answer = lambda asked: Empty()

    async def work(models):
        return await models.embeddings().aembed_documents(["a", "b"])

    with pytest.raises(ProviderFault, match=r"malformed_body"):
        live.run(work)


@pytest.mark.parametrize("what", ["chat", "embed"])
@pytest.mark.parametrize("code", [429, 503])
def test_the_wait_that_a_header_asks_for_is_kept(live, what, code):
    live.stub.script(Status(code, retry_after=7), Status(code, retry_after=90))
    ask(live, what)
    assert live.time.waits == [7, 90]


@pytest.mark.parametrize("what", ["chat", "embed"])
def test_so_is_the_one_in_the_details_of_googles_errors(tmp_path, stub, what):
    live = LiveModels(stub, tmp_path, "google")
    stub.script(Status(429, retry_delay=21.5))
    ask(live, what)
    assert live.time.waits == [21.5]


def test_a_wait_beyond_the_longest_time_is_not_begun(live):
    # The first wait ends after 400 s, the second would after 800: more than the 600 that a call may take.
    live.stub.answer = lambda asked: Status(429, retry_after=400)
    with pytest.raises(ProviderFault, match=r"tried 2 times in 400 s; the provider asks to wait 400 s"):
        live.ask()
    assert live.stub.calls == 2


def test_a_quota_that_lasts_until_tomorrow_ends_the_call_and_holds_nobody_back(live):
    live.stub.script(Status(429, retry_after=40_000))
    with pytest.raises(ProviderFault, match=r"http_429: .*the provider asks to wait 40000 s"):
        live.ask()
    assert live.ask().text == "ok"
    assert live.time.waits == []


def test_attempts_and_waits_are_logged(live, caplog):
    live.stub.script(Status(500, retry_after=3), Status(500, retry_after=4))
    live.ask()
    name = CHAT[live.protocol]
    first, second = [record.getMessage() for record in caplog.records if "attempt" in record.getMessage()]
    assert first.startswith(f"attempt 1 of 5: http_500: {name}: HTTP 500")
    assert first.endswith("waiting 3.0 s")
    assert second.startswith("attempt 2 of 5")
    assert second.endswith("waiting 4.0 s")


TERMINAL = {
    "truncated": (Say("Well", finish="truncated"), "truncated", "raise the limit on its tokens"),
    "empty": (Say(""), "empty_answer", "the model answered nothing"),
    "nothing to choose": (Empty(), "empty_answer", "the model answered nothing"),
    "refused request": (Status(400, "no such field"), "refused_request", "HTTP 400"),
    "too large": (Status(413), "refused_request", "HTTP 413"),
    "blocked": (Say(finish="blocked"), "blocked", "change what the system sends"),
    "refused": (Say("I won't.", finish="refused"), "refused", "I won't."),
    "malformed call": (
        Say(calls=[("look_up", {})], finish="malformed_call"),
        "malformed_call",
        "take a model that calls tools reliably",
    ),
}
NOT_OF_OLLAMA = ("blocked", "refused", "malformed call")
"""It has no filter, and reads calls itself."""


@pytest.mark.parametrize(
    ("protocol", "case"),
    [
        (protocol, case)
        for protocol in PROTOCOLS
        for case in TERMINAL
        if not (protocol == "ollama" and case in NOT_OF_OLLAMA)
    ],
)
def test_what_the_model_did_is_recorded_and_raised_again(tmp_path, stub, protocol, case):
    reply, kind, says = TERMINAL[case]
    if (protocol, case) == ("google", "refused"):
        kind, says = "blocked", "PROHIBITED_CONTENT"  # its word for a refusal is a block
    live = LiveModels(stub, tmp_path, protocol)
    stub.script(reply)
    for mode in ("new_episodes", "none"):
        with pytest.raises(CallFailed) as caught:
            live.ask(mode=mode)
        assert caught.value.kind == kind
        assert caught.value.message.startswith(f"{CHAT[protocol]}: ")
        assert says in caught.value.message
    assert stub.calls == 1
    (entry,) = live.recorded()
    assert entry.failure.kind == kind


def test_a_blocked_prompt_is_told_from_an_empty_answer(tmp_path, stub):
    live = LiveModels(stub, tmp_path, "google")
    stub.script(Raw(b'{"promptFeedback": {"blockReason": "BLOCKLIST"}}'))
    with pytest.raises(CallFailed, match=r"blocked: .*the prompt was blocked with 'BLOCKLIST'"):
        live.ask()


@pytest.mark.parametrize(
    ("last", "kind"),
    [
        (b"", "connection"),  # the last line, which says that the reply is done, never came
        (b'{"error": "the runner died"}\n', "broken_stream"),
        (b'{"model": "g", "mess', "malformed_body"),
    ],
)
def test_half_a_stream_of_ollama_is_no_answer(tmp_path, stub, last, kind):
    live = LiveModels(stub, tmp_path, "ollama")
    half = b'{"model": "g", "message": {"role": "assistant", "content": "It is"}, "done": false}\n'
    stub.answer = lambda asked: Raw(half + last, "application/x-ndjson")
    with pytest.raises(ProviderFault) as caught:
        live.ask()
    assert caught.value.kind == kind
    assert stub.calls == ATTEMPTS


AT_ONCE = {
    "401": (Status(401), "http_401"),
    "403": (Status(403), "http_403"),
    "404": (Status(404), "http_404"),
    "418": (Status(418), "http_418"),
}


@pytest.mark.parametrize("what", ["chat", "embed"])
@pytest.mark.parametrize(("status", "kind"), AT_ONCE.values(), ids=AT_ONCE)
def test_what_no_attempt_would_change_ends_at_once(live, what, status, kind):
    live.stub.script(status)
    with pytest.raises(ProviderFault) as caught:
        ask(live, what)
    assert caught.value.kind == kind
    assert live.stub.calls == 1
    assert live.recorded() == []


@pytest.mark.parametrize(
    ("protocol", "status", "kind", "says"),
    [
        # Gemini answers 400 to a wrong key: recorded, every case would be a refused request for good.
        ("google", Status(400, reason="API_KEY_INVALID"), "http_400", "GOOGLE_API_KEY or GEMINI_API_KEY"),
        ("google", Status(401), "http_401", "GOOGLE_API_KEY or GEMINI_API_KEY"),
        ("openai", Status(401), "http_401", "OPENAI_API_KEY"),
        ("openai", Status(429, reason="insufficient_quota"), "no_quota", "plan and billing"),
        ("ollama", Status(404), "http_404", "ollama pull gemma4:e2b"),
    ],
)
def test_the_remedy_is_the_providers(tmp_path, stub, protocol, status, kind, says):
    live = LiveModels(stub, tmp_path, protocol)
    stub.script(status)
    with pytest.raises(ProviderFault) as caught:
        live.ask()
    assert caught.value.kind == kind
    assert says in caught.value.message
    assert stub.calls == 1
