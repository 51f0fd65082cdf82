"""Recorded embeddings: per text and task, rounded alike live and on replay."""

from __future__ import annotations

import asyncio

import pytest

from eval_pipeline.documents import Document
from eval_pipeline.errors import RecordingMiss, RecordingMisses, SuiteError
from eval_pipeline.model_settings import EmbedderSettings, ModelSettings
from eval_pipeline.models import Models
from eval_pipeline.recordings import Recordings, scope
from eval_pipeline_tests.scripted import ScriptedConnector

PAGES = (Document("sync", "sync waits"), Document("init", "init makes a list"))


def embedder(folder, mode="none", connector=None):
    recordings = Recordings(folder, mode)
    settings = EmbedderSettings(name="openai:e")
    models = Models(ModelSettings(name="openai:m"), settings, recordings, connector or ScriptedConnector())
    return models.embeddings(PAGES), recordings


def test_vectors_are_rounded_the_same_way_live_and_on_replay(tmp_path):
    live, recordings = embedder(tmp_path, "new_episodes")
    texts = [page.text for page in PAGES]
    vectors = live.embed_documents(texts)
    with scope("c"):
        query = live.embed_query("sync?")
    recordings.close()
    replayed, _ = embedder(tmp_path)
    assert replayed.embed_documents(texts) == vectors
    assert asyncio.run(replayed.aembed_documents(texts)) == vectors
    with scope("c"):
        assert replayed.embed_query("sync?") == query


def test_each_text_is_asked_once_whatever_the_batches(tmp_path):
    connector = ScriptedConnector()
    live, recordings = embedder(tmp_path, "new_episodes", connector)
    live.embed_documents(["a b c", "sync waits", "a b c"])
    live.embed_documents(["sync waits"])
    recordings.close()
    assert connector.embedded == ["a b c", "sync waits"]


def test_a_page_and_a_query_of_the_same_text_are_two_questions(tmp_path):
    connector = ScriptedConnector()
    live, recordings = embedder(tmp_path, "new_episodes", connector)
    live.embed_documents(["sync waits"])
    with scope("c"):
        asyncio.run(live.aembed_query("sync waits"))
    recordings.close()
    assert connector.embedded == ["sync waits", "sync waits"]


def test_every_page_without_a_vector_is_named(tmp_path):
    replayed, _ = embedder(tmp_path)
    with pytest.raises(RecordingMisses) as caught:
        replayed.embed_documents([page.text for page in PAGES])
    assert [miss.case_id for miss in caught.value.misses] == ["page sync", "page init"]


def test_a_query_without_a_vector_is_a_miss_of_its_case(tmp_path):
    replayed, _ = embedder(tmp_path)
    with scope("case-7"), pytest.raises(RecordingMiss, match="case-7"):
        replayed.embed_query("sync?")


def test_a_candidate_without_an_embedder_says_so(tmp_path):
    models = Models(ModelSettings(name="openai:m"), None, Recordings(tmp_path), ScriptedConnector())
    with pytest.raises(SuiteError, match="names no `embedder`"):
        models.embeddings()
