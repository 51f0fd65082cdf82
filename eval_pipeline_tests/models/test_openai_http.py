"""Which HTTP client is under OpenAI's, and that it ends with its event loop."""

from __future__ import annotations

import asyncio

import pytest

from eval_pipeline import event_loop
from eval_pipeline.event_loop import run_async
from eval_pipeline.model_settings import ModelSettings
from eval_pipeline.models.connection import ProviderConnector
from eval_pipeline.models.openai_http import chat_http_options, http_options

SETTINGS = ModelSettings(name="openai:m", base_url="http://127.0.0.1:1/v1")


async def options(settings=SETTINGS):
    return http_options(settings)


def test_models_of_one_process_share_a_client():
    first, second = run_async(options()), run_async(options(ModelSettings(name="openai:other")))
    assert first["http_async_client"] is second["http_async_client"]


def test_the_client_goes_under_a_chat_model():
    async def made():
        chat = ProviderConnector().chat(SETTINGS)
        return http_options(SETTINGS)["http_async_client"], chat.http_async_client

    shared, used = run_async(made())
    assert used is shared


def test_another_loop_gets_none_of_its_connections():
    assert asyncio.run(options()) == {}
    assert http_options(SETTINGS) == {}  # nor does code outside of any


@pytest.mark.parametrize(
    "settings",
    [
        {"settings": {"openai_proxy": "http://proxy"}},
        {"settings": {"http_socket_options": []}},
        {"base_url": "http://me:password@host/v1"},
    ],
)
def test_who_says_how_to_connect_is_not_overruled(settings):
    async def chat_options():
        return chat_http_options(ModelSettings(name="openai:m", **settings))

    assert run_async(chat_options()) == {}


def test_the_client_is_closed_with_the_loop():
    client = run_async(options())["http_async_client"]
    event_loop._close()
    assert client.is_closed
    assert run_async(options())["http_async_client"] is not client
