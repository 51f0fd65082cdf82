"""Makes the real clients of the providers, by LangChain's own names for them, their own retries off."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from eval_pipeline.errors import ProviderFault
from eval_pipeline.model_settings import EmbedderSettings, ModelSettings
from eval_pipeline.models.keys import key_variables, missing_key
from eval_pipeline.recordings.credentials import without_credentials
from eval_pipeline.suggestions import did_you_mean

if TYPE_CHECKING:
    from langchain_core.embeddings import Embeddings
    from langchain_core.language_models import BaseChatModel

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
            own = {"max_retries": 1, "timeout": settings.timeout_s, "additional_headers": _deadline(settings)}
        elif _provider(settings) == "openai":
            own = {"max_retries": 0, "timeout": settings.timeout_s}
        model: BaseChatModel = _construct(
            settings, own, lambda options: init_chat_model(settings.name, **options)
        )
        return model

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
        embeddings: Embeddings = _construct(
            settings, own, lambda options: init_embeddings(settings.name, **options)
        )
        if provider == "google_genai":
            _bound_google_embeddings(embeddings, settings)
        return embeddings


def _construct(settings: ModelSettings, own: dict[str, Any], build: Callable[[dict[str, Any]], Any]) -> Any:
    if missing := missing_key(settings):
        raise ProviderFault("no_key", missing)
    provider = _provider(settings)
    options: dict[str, Any] = {**own, **settings.settings}
    if settings.base_url:
        options["base_url"] = settings.base_url
    if provider == "ollama":
        options["client_kwargs"] = {**_httpx_options(settings), **(options.get("client_kwargs") or {})}
    if provider == "openai" and not any(os.environ.get(name) for name in key_variables(settings)):
        options["api_key"] = "none"  # a local server needs none, the client insists on one
    try:
        client = build(options)
    except ImportError as failure:
        extra = EXTRAS.get(provider)
        remedy = f"pip install 'eval-pipeline[{extra}]'" if extra else "install its LangChain package"
        raise ProviderFault("not_installed", f"{settings.name}: {failure}; {remedy}") from failure
    except Exception as failure:  # pydantic, httpx or the provider's own
        text = without_credentials(" ".join(str(failure).split()))
        raise ProviderFault(
            "bad_settings", f"{settings.name}: {text}; correct the model's `settings` or `base_url`"
        ) from None
    _refuse_unknown_settings(settings, client)
    return client


def _refuse_unknown_settings(settings: ModelSettings, client: Any) -> None:
    """Some clients drop what they don't know, so that a misspelt setting would change nothing."""
    fields = type(client).model_fields
    known = {*fields, *(field.alias for field in fields.values() if field.alias)}
    for name in settings.settings:
        if name not in known:
            raise ProviderFault(
                "bad_settings",
                f"{settings.name}: {type(client).__name__} has no setting {name!r}"
                f"{did_you_mean(name, sorted(known))}",
            )


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
            headers={**(embeddings.additional_headers or {}), **_deadline(settings)},
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

    # By default httpx keeps 20 connections, and would open a new one for each further call in flight.
    kept = httpx.Limits(max_connections=None, max_keepalive_connections=settings.max_concurrency)
    return {"timeout": settings.timeout_s, "limits": kept}


def _provider(settings: ModelSettings) -> str:
    return settings.name.partition(":")[0]
