"""How the real clients are made: what they are told, what they refuse, and how long they wait."""

from __future__ import annotations

import asyncio
import time

import pytest

from eval_pipeline.errors import ProviderFault
from eval_pipeline.model_settings import EmbedderSettings, ModelSettings
from eval_pipeline.models import Models
from eval_pipeline.models.connection import ProviderConnector
from eval_pipeline.recordings import Recordings
from eval_pipeline_tests.models.live_models import CHAT, EMBEDDER, KEYS, LiveModels
from eval_pipeline_tests.provider_replies import Hang

CONNECTOR = ProviderConnector()


@pytest.mark.parametrize(
    ("name", "settings", "says"),
    [
        ("google_genai:gemini-3.8-flash", {"temperatur": 1}, "did you mean 'temperature'?"),
        ("google_genai:gemini-3.8-flash", {"temperature": 9}, "temperature must be in the range"),
        ("ollama:g", {"max_tokens": 9}, "did you mean 'num_predict'?"),
        ("openai:m", {"top_kk": 3}, "ChatOpenAI has no setting 'top_kk'"),
        ("openai:m", {"temperature": "hot"}, "temperature Input should be a valid number"),
    ],
)
def test_a_setting_that_would_change_nothing_is_refused(name, settings, says):
    with pytest.raises(ProviderFault) as caught:
        CONNECTOR.chat(ModelSettings(name=name, settings=settings))
    assert caught.value.kind == "bad_settings"
    assert caught.value.message.startswith(f"{name}: ")
    assert says in caught.value.message


@pytest.mark.parametrize("name", EMBEDDER.values())
def test_so_is_one_of_an_embedder(name):
    with pytest.raises(ProviderFault, match=r"bad_settings.*temperatur"):
        CONNECTOR.embeddings(EmbedderSettings(name=name, settings={"temperatur": 1}))


@pytest.mark.parametrize("name", CHAT.values())
@pytest.mark.parametrize("address", ["localhost:11434", "ftp://host", "http://"])
def test_an_address_that_is_none_is_refused(name, address):
    """Ollama's client would ask localhost instead."""
    with pytest.raises(ProviderFault, match=rf"bad_address: {name}: base_url '{address}' is no address"):
        CONNECTOR.chat(ModelSettings(name=name, base_url=address))


def test_a_password_in_an_address_is_not_shown():
    with pytest.raises(ProviderFault, match=r"ftp://\*\*\*@host") as caught:
        CONNECTOR.chat(ModelSettings(name="ollama:g", base_url="ftp://me:pa55word@host"))
    assert "pa55word" not in caught.value.message


def test_a_server_that_does_not_run_says_so(tmp_path, live):
    says = r"connection: .*Connect call failed .*see that the server runs and base_url is right"
    with pytest.raises(ProviderFault, match=says) as caught:
        live.ask(base_url="http://127.0.0.1:9")  # the port of a service that nobody runs any more
    assert "timed out" not in caught.value.message  # as OpenAI's client calls it


def test_gemini_is_never_told_a_deadline_that_it_refuses(tmp_path, stub):
    live = LiveModels(stub, tmp_path, "google")
    live.ask(timeout_s=3)
    live.embed(timeout_s=3)
    live.ask("And now?", timeout_s=30.5)
    assert [asked.headers["x-server-timeout"] for asked in stub.asked] == ["10", "10", "31"]


@pytest.mark.parametrize("pages", [False, True])
def test_a_client_that_is_not_awaited_has_its_timeout_too(live, pages):
    live.stub.answer = lambda asked: Hang()
    embedder = live.models(Recordings(live.folder, "new_episodes"), timeout_s=0.05).embeddings()
    started = time.perf_counter()
    with pytest.raises(ProviderFault, match=r"timeout: .*no answer within 0.05 s"):
        embedder._live.pages_blocking(["a"]) if pages else embedder._live.query_blocking("a")
    assert time.perf_counter() - started < 5  # five attempts of 0.05 s, on a busy machine
    assert live.stub.calls == 5


@pytest.mark.parametrize("protocol", ["google", "openai"])
def test_keys_go_into_headers_alone(tmp_path, stub, protocol):
    live = LiveModels(stub, tmp_path, protocol)
    live.ask()
    (asked,) = stub.asked
    header = "x-goog-api-key" if protocol == "google" else "authorization"
    assert KEYS["GOOGLE_API_KEY" if protocol == "google" else "OPENAI_API_KEY"] in asked.headers[header]
    assert "key" not in asked.path


@pytest.mark.parametrize("mode", ["new_episodes", "all"])
def test_a_missing_key_is_said_before_anything_runs(tmp_path, monkeypatch, mode):
    for name in KEYS:
        monkeypatch.delenv(name)
    with pytest.raises(ProviderFault) as caught:
        Models(
            ModelSettings(name=CHAT["google"]),
            EmbedderSettings(name=EMBEDDER["openai"]),
            Recordings(tmp_path, mode),
        )
    assert str(caught.value) == (
        "no_key: google_genai:gemini-3.8-flash: no key; set GOOGLE_API_KEY or GEMINI_API_KEY, "
        "or replay with --record-mode none; "
        "openai:embedding-stub: no key; set OPENAI_API_KEY, or replay with --record-mode none"
    )


def test_a_replay_needs_no_key(tmp_path, monkeypatch):
    for name in KEYS:
        monkeypatch.delenv(name)
    Models(ModelSettings(name=CHAT["google"]), None, Recordings(tmp_path)).chat()


def test_a_local_server_needs_no_key(tmp_path, stub, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY")
    live = LiveModels(stub, tmp_path, "openai")
    assert live.ask(timeout_s=77).text == "ok"
    assert stub.asked[0].headers["authorization"] == "Bearer none"


def test_models_of_the_same_settings_share_what_may_be_in_flight(live):
    live.stub.latency_s = 0.03

    async def work(models):
        asked = [models.chat().ainvoke(f"Question {n}") for n in range(9)]
        await asyncio.gather(*asked)

    live.run(work, max_concurrency=3)
    assert live.stub.calls == 9
    assert live.stub.most_in_flight <= 3
