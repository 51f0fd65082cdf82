"""Each provider's real client over HTTP: tools, structured output, embeddings, and the same on replay."""

from __future__ import annotations

import dataclasses
import struct

import pytest
from langchain.agents import create_agent
from langchain_core.callbacks import AsyncCallbackHandler
from langchain_core.messages import HumanMessage
from langchain_core.tools import tool
from pydantic import BaseModel

from eval_pipeline.cases import Case
from eval_pipeline.documents import Document
from eval_pipeline.errors import CallFailed, ProviderFault
from eval_pipeline.event_loop import run_async
from eval_pipeline.langchain_agent import run_agent
from eval_pipeline.model_settings import ModelSettings
from eval_pipeline.models.connection import ProviderConnector
from eval_pipeline.models.structured_output import schema_of
from eval_pipeline.recordings import scope
from eval_pipeline_tests.models.live_models import CHAT, EMBEDDER, KEYS, PROTOCOLS, LiveModels
from eval_pipeline_tests.provider_replies import Say, Status
from eval_pipeline_tests.provider_stub import ProviderStub, vector_of


@tool
async def look_up(number: int) -> str:
    """Look a record up."""
    return f"record {number}"


class Person(BaseModel):
    """Somebody."""

    name: str
    age: int


PERSON = '{"name": "Ada", "age": 36}'
PAGES = (Document("sync", "sync waits"), Document("init", "init makes a list"))


def run_agent_once(live: LiveModels, mode="new_episodes", **settings):
    """The trace of one agent run, without what differs from run to run."""

    async def work(models):
        agent = create_agent(models.chat(), [look_up], system_prompt="Look it up.")
        return await run_agent(agent, Case("case-1", "What is 7?"))

    return dataclasses.replace(live.run(work, mode, **settings), latency_ms=0)


@pytest.fixture(params=PROTOCOLS)
def own(request, tmp_path):
    """A provider with a stub of its own, which the test may stop."""
    with ProviderStub() as stub:
        yield LiveModels(stub, tmp_path, request.param)


def test_an_agent_calls_a_tool_and_answers_and_replays_without_a_server(own):
    own.stub.script(Say(calls=[("look_up", {"number": 7})]), Say("It is record 7."))
    trace = run_agent_once(own)
    assert trace.error is None
    assert [(call.name, call.arguments, call.output) for call in trace.tool_calls] == [
        ("look_up", {"number": 7}, "record 7")
    ]
    assert trace.answer == "It is record 7."
    assert own.stub.calls == 2
    assert "record 7" in str(own.stub.asked[1].body)  # the result went back to the model
    own.stub.stop()
    assert run_agent_once(own, "none") == trace


def test_tool_calls_by_constrained_output_do_the_same(own):
    own.stub.script(Say('{"tool": "look_up", "args": {"number": 7}}'), Say('{"answer": "It is record 7."}'))
    trace = run_agent_once(own, tool_calling="json_schema")
    assert [(call.name, call.arguments, call.output) for call in trace.tool_calls] == [
        ("look_up", {"number": 7}, "record 7")
    ]
    assert trace.answer == "It is record 7."
    own.stub.stop()
    assert run_agent_once(own, "none", tool_calling="json_schema") == trace


def test_gemini_gets_the_signature_of_its_call_back(tmp_path, stub):
    live = LiveModels(stub, tmp_path, "google")
    live.stub.script(Say(calls=[("look_up", {"number": 7})]), Say("It is record 7."))
    run_agent_once(live)
    signed = [
        part["thoughtSignature"]
        for turn in live.stub.asked[1].body["contents"]
        for part in turn["parts"]
        if "functionCall" in part
    ]
    assert signed == ["c2lnbmVk"]


def test_structured_output_is_read_and_replayed(live):
    live.stub.script(Say(PERSON))
    for mode in ("new_episodes", "none"):
        person = live.run(
            lambda models: models.chat().with_structured_output(Person).ainvoke("Who wrote it?"), mode
        )
        assert person == Person(name="Ada", age=36)
    assert live.stub.calls == 1


@pytest.mark.parametrize(
    "reply",
    ['{"name": "Ada", "age": 36', f"```json\n{PERSON}\n```", '{"name": "Ada", "age": 36, "born": 1815}',
     '{"name": "Ada", "name": "Eve", "age": 36}', '{"name": "Ada"}', '{"name": "Ada", "age": "36"}'],
    ids=["cut off", "in a fence", "field too many", "key twice", "field missing", "text for a number"],
)  # fmt: skip
def test_no_structured_output_is_mended(live, reply):
    live.stub.script(Say(reply))
    with pytest.raises(CallFailed, match=rf"malformed_reply: {CHAT[live.protocol]}: not of the schema"):
        live.run(lambda models: models.chat().with_structured_output(Person).ainvoke("Who wrote it?"))
    assert len(live.recorded()) == 1  # the reply itself, which replays to the same error


@pytest.mark.parametrize("reply", [PERSON, '{"name": "Ada"}'])
def test_with_the_raw_reply_what_does_not_fit_raises_nothing(live, reply):
    live.stub.script(Say(reply))
    for mode in ("new_episodes", "none"):
        found = live.run(
            lambda models: (
                models.chat().with_structured_output(Person, include_raw=True).ainvoke("Who wrote it?")
            ),
            mode,
        )
        assert found["raw"].text == reply
        if reply == PERSON:
            assert (found["parsed"], found["parsing_error"]) == (Person(name="Ada", age=36), None)
        else:
            assert found["parsed"] is None
            assert "age is missing" in str(found["parsing_error"])


@pytest.mark.parametrize(
    "schema", [schema_of(Person), {"title": "reply", "type": "object", "properties": {}}]
)
def test_a_schema_is_sent_as_langchain_would_send_it(live, schema):
    live.stub.answer = lambda asked: Say(PERSON)
    live.run(lambda models: models.chat().bind(response_schema=schema).ainvoke([HumanMessage("Who?")]))
    settings = ModelSettings(name=CHAT[live.protocol], base_url=live.stub.base_url(live.protocol))
    client = live.connector.chat(settings)
    run_async(client.with_structured_output(schema, method="json_schema").ainvoke([HumanMessage("Who?")]))
    ours, theirs = live.stub.asked
    assert ours.body == theirs.body


@pytest.mark.parametrize("blocking", [False, True])
def test_pages_and_queries_are_embedded_and_replayed(live, blocking):
    def embed(mode):
        async def work(models):
            embedder = models.embeddings(PAGES)
            texts = [page.text for page in PAGES]
            if blocking:
                return embedder.embed_documents(texts), embedder.embed_query("sync?")
            return await embedder.aembed_documents(texts), await embedder.aembed_query("sync?")

        return live.run(work, mode)

    vectors = embed("new_episodes")
    assert vectors == ([vector_of("sync waits"), vector_of("init makes a list")], vector_of("sync?"))
    assert [asked.texts for asked in live.stub.asked] == [["sync waits", "init makes a list"], ["sync?"]]
    assert live.stub.asked[0].model == EMBEDDER[live.protocol].partition(":")[2]
    assert embed("none") == vectors
    assert live.stub.calls == 2


def test_gemini_is_told_pages_from_queries(tmp_path, stub):
    live = LiveModels(stub, tmp_path, "google")

    async def work(models):
        await models.embeddings(PAGES).aembed_documents(["sync waits"])
        await models.embeddings(PAGES).aembed_query("sync?")

    live.run(work)
    tasks = [asked.body["requests"][0]["taskType"] for asked in live.stub.asked]
    assert tasks == ["RETRIEVAL_DOCUMENT", "RETRIEVAL_QUERY"]


def test_a_batch_that_fails_loses_only_itself(live):
    texts = [f"page {n}" for n in range(101)]  # 100 go into the first batch, the last one into a second
    live.stub.script(Say(), Status(401))
    with pytest.raises(ProviderFault, match=r"http_401"):
        live.run(lambda models: models.embeddings().aembed_documents(texts))
    vectors = live.run(lambda models: models.embeddings().aembed_documents(texts))
    assert [len(asked.texts) for asked in live.stub.asked] == [100, 1, 1]
    assert vectors[100] == [float(struct.unpack("f", struct.pack("f", x))[0]) for x in vector_of("page 100")]


@pytest.mark.parametrize(
    ("protocol", "variable"),
    [
        ("google", "GOOGLE_GEMINI_BASE_URL"),
        ("ollama", "OLLAMA_HOST"),
        ("openai", "OPENAI_BASE_URL"),
        ("openai", "OPENAI_API_BASE"),
    ],
)
def test_the_address_may_come_from_the_providers_own_variable(
    monkeypatch, tmp_path, stub, protocol, variable
):
    monkeypatch.setenv(variable, stub.base_url(protocol))
    live = LiveModels(stub, tmp_path, protocol)
    assert live.ask(base_url=None).text == "ok"
    assert live.embed("abc", base_url=None) == vector_of("abc")
    assert stub.calls == 2


@pytest.mark.parametrize(
    ("protocol", "settings", "sent"),
    [
        (
            "google",
            {"temperature": 0.5, "seed": 7, "max_tokens": 40, "thinking_level": "low"},
            {
                "temperature": 0.5,
                "seed": 7,
                "maxOutputTokens": 40,
                "thinkingConfig": {"thinking_level": "LOW"},
            },
        ),
        (
            "ollama",
            {"temperature": 0.5, "seed": 7, "num_predict": 40},
            {"temperature": 0.5, "seed": 7, "num_predict": 40},
        ),
        (
            "openai",
            {"temperature": 0.5, "seed": 7, "max_tokens": 40, "extra_body": {"cache_prompt": False}},
            {"temperature": 0.5, "seed": 7, "max_completion_tokens": 40, "cache_prompt": False},
        ),
    ],
)
def test_settings_reach_the_provider(tmp_path, stub, protocol, settings, sent):
    LiveModels(stub, tmp_path, protocol).ask(settings=settings)
    (asked,) = stub.asked
    place = {"google": "generationConfig", "ollama": "options"}.get(protocol)
    given = asked.body[place] if place else asked.body
    assert {name: given[name] for name in sent} == sent


def test_tokens_are_counted(live):
    live.stub.script(Say("Hello.", tokens=(31, 8)))
    reply = live.ask()
    assert (reply.usage_metadata["input_tokens"], reply.usage_metadata["output_tokens"]) == (31, 8)


def test_callbacks_see_a_live_call_once(live):
    class Counting(AsyncCallbackHandler):
        started = 0

        async def on_chat_model_start(self, *args, **options):
            self.started += 1

    counting = Counting()
    live.run(lambda models: models.chat().ainvoke("Hi", {"callbacks": [counting]}))
    assert counting.started == 1


def test_the_same_tools_bind_the_client_once(live):
    """Binding and schema work for each call would cost more than the call."""

    async def work(models):
        model = models.chat()
        bound = model.bind_tools([look_up])
        for n in range(3):
            with scope(f"case-{n}"):
                await bound.ainvoke(f"Question {n}")
        return [len(chat._bound) for _, chat in model._repeats.values()]

    assert live.run(work) == [1]


def test_no_key_is_needed_where_all_is_recorded(live, monkeypatch):
    live.ask()
    live.connector = ProviderConnector()
    for name in KEYS:
        monkeypatch.delenv(name)
    assert live.ask(mode="none").text == "ok"
