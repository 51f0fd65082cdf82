"""The HTTP client under OpenAI's: through aiohttp, at half the processor time of the one it makes itself."""

from __future__ import annotations

import os
from typing import Any
from urllib.parse import urlsplit

from eval_pipeline.event_loop import close_with_loop, in_kept_loop
from eval_pipeline.model_settings import ModelSettings
from eval_pipeline.models.keys import OPENAI_ADDRESSES

_OWN_TRANSPORT = frozenset({"openai_proxy", "http_socket_options"})
"""Settings that say how to connect; with them LangChain makes the client."""
_kept: list[Any] = []


def chat_http_options(settings: ModelSettings) -> dict[str, Any]:
    """As `http_options`, for a chat model: LangChain is not to warn that proxies are passed by."""
    options = http_options(settings)
    return {**options, "http_socket_options": ()} if options else {}


def http_options(settings: ModelSettings) -> dict[str, Any]:
    """What makes a model of OpenAI's protocol use the process's client; nothing where it can't be shared.

    Its connections belong to the process's event loop: in another loop LangChain makes the client.

    Raises:
        ImportError: when aiohttp is not installed.
    """
    if not in_kept_loop() or _OWN_TRANSPORT & settings.settings.keys() or _logs_in_by_address(settings):
        return {}
    if not _kept:
        import aiohttp  # noqa: F401  # else the client would say so only when it is made, and not as ImportError
        from openai import DefaultAioHttpClient

        _kept.append(DefaultAioHttpClient())
        close_with_loop(_close)
    return {"http_async_client": _kept[0]}


async def _close() -> None:
    await _kept.pop().aclose()


def _logs_in_by_address(settings: ModelSettings) -> bool:
    """Whether the address holds a password, which aiohttp refuses beside a key."""
    addresses = [settings.base_url, *(os.environ.get(name) for name in OPENAI_ADDRESSES)]
    return any("@" in urlsplit(address).netloc for address in addresses if address)
