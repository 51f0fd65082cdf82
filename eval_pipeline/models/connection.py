"""Makes the real clients of the providers, by LangChain's own names for them, their own retries off."""

from __future__ import annotations

import math
import os
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from eval_pipeline.errors import ProviderFault
from eval_pipeline.model_settings import EmbedderSettings, ModelSettings
from eval_pipeline.models.client_logs import hide_credentials
from eval_pipeline.models.client_settings import checked_address, refuse_unknown_settings
from eval_pipeline.models.google_replies import refuse_other_replies
from eval_pipeline.models.keys import key_variables, missing_key
from eval_pipeline.models.openai_http import chat_http_options, http_options
from eval_pipeline.recordings.credentials import without_credentials

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings
    from langchain_core.language_models import BaseChatModel

Client = TypeVar("Client")
SHORTEST_GOOGLE_DEADLINE_S = 10
"""Gemini refuses a request that tells it a shorter deadline, and the client tells it its timeout."""
EXTRAS = {"ollama": "ollama", "openai": "openai"}


class Connector(Protocol):
    """Makes the real clients; tests put scripted ones in its place."""

    def chat(self, settings: ModelSettings) -> BaseChatModel:
        """A client for a chat model, its own retries off."""
        ...

    def embeddings(self, settings: EmbedderSettings) -> Embeddings:
        """A client for an embedding model, its own retries off."""
        ...


@dataclass(frozen=True)
class ProviderConnector:
    """The clients of the providers."""

    def chat(self, settings: ModelSettings) -> BaseChatModel:
        """A client through `init_chat_model`.

        Raises:
            ProviderFault: when the provider's package or key is missing, or it does not take the settings.
        """
        from langchain.chat_models import init_chat_model

        own: dict[str, Any] = {}
        if _provider(settings) == "google_genai":
            # Here `max_retries` counts attempts: one is none beside ours.
            own = {"max_retries": 1, "timeout": settings.timeout_s}
        elif _provider(settings) == "openai":
            own = {"max_retries": 0, "timeout": settings.timeout_s}

        def build(options: dict[str, Any]) -> BaseChatModel:
            http = chat_http_options(settings) if _provider(settings) == "openai" else {}
            model: BaseChatModel = init_chat_model(settings.name, **http, **options)
            if _provider(settings) == "google_genai":
                refuse_other_replies(model)
            return model

        return _construct(settings, own, build)

    def embeddings(self, settings: EmbedderSettings) -> Embeddings:
        """A client through `init_embeddings`, or the local model for `onnx:`.

        Raises:
            ProviderFault: when the provider's package or key is missing, or it does not take the settings.
        """
        provider = _provider(settings)
        if provider == "onnx":
            from eval_pipeline.models.onnx_embeddings import OnnxEmbeddings

            return OnnxEmbeddings(settings.name.partition(":")[2])
        from langchain.embeddings import init_embeddings

        own: dict[str, Any] = {}
        if provider == "openai":
            # It would count tokens with a vocabulary that it downloads, and send the tokens instead of text.
            own = {"max_retries": 0, "timeout": settings.timeout_s, "check_embedding_ctx_length": False}

        def build(options: dict[str, Any]) -> Embeddings:
            http = http_options(settings) if provider == "openai" else {}
            return init_embeddings(settings.name, **http, **options)

        embeddings = _construct(settings, own, build)
        if provider == "google_genai":
            _bound_google_embeddings(embeddings, settings)
        return embeddings


def _construct(
    settings: ModelSettings, own: dict[str, Any], build: Callable[[dict[str, Any]], Client]
) -> Client:
    if missing := missing_key(settings):
        raise ProviderFault("no_key", missing)
    hide_credentials()
    provider = _provider(settings)
    options: dict[str, Any] = {**own, **settings.settings}
    if settings.base_url:
        options["base_url"] = checked_address(settings)
    if provider == "google_genai":
        options["additional_headers"] = {**_deadline(settings), **(options.get("additional_headers") or {})}
    if provider == "ollama":
        options["client_kwargs"] = {**_httpx_options(settings), **(options.get("client_kwargs") or {})}
    if provider == "openai" and not any(os.environ.get(name) for name in key_variables(settings)):
        options["api_key"] = "none"  # a local server needs none, the client insists on one
    try:
        with warnings.catch_warnings():
            # They warn of a setting that they don't know; here that is an error, below.
            warnings.filterwarnings("ignore", ".*not default parameter")
            client = build(options)
    except ImportError as failure:
        extra = EXTRAS.get(provider)
        install = f"pip install 'eval-pipeline[{extra}]'" if extra else "install its LangChain package"
        raise ProviderFault("not_installed", f"{settings.name}: {failure}; {install}") from failure
    except Exception as failure:  # pydantic, httpx or the provider's own
        text = without_credentials(" ".join(str(failure).split()))
        raise ProviderFault(
            "bad_settings", f"{settings.name}: {text}; correct the model's `settings` or `base_url`"
        ) from None
    refuse_unknown_settings(settings, client)
    return client


def _bound_google_embeddings(embeddings: Any, settings: ModelSettings) -> None:
    """Give Google's embedder a timeout and no retries: LangChain's class takes neither."""
    from google.genai.client import Client
    from google.genai.types import HttpOptions, HttpRetryOptions

    if embeddings.client.vertexai:
        return  # made with credentials that are not known here
    key = embeddings.google_api_key
    embeddings.client = Client(
        api_key=key and key.get_secret_value(),
        http_options=HttpOptions(
            base_url=embeddings.base_url,
            api_version=embeddings.api_version,
            headers=embeddings.additional_headers,
            client_args=embeddings.client_args,
            async_client_args=embeddings.client_args,
            timeout=math.ceil(settings.timeout_s * 1000),
            retry_options=HttpRetryOptions(attempts=1),
        ),
    )


def _deadline(settings: ModelSettings) -> dict[str, str]:
    return {"X-Server-Timeout": str(max(SHORTEST_GOOGLE_DEADLINE_S, math.ceil(settings.timeout_s)))}


def _httpx_options(settings: ModelSettings) -> dict[str, Any]:
    import httpx

    # No more than the 20 that are kept by default: httpx goes through all of them, in the square of their
    # number, for each call, and with 50 would spend four times the processor time on it.
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=20)
    return {"timeout": settings.timeout_s, "limits": limits}


def _provider(settings: ModelSettings) -> str:
    return settings.name.partition(":")[0]
