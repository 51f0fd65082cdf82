"""Asks an embedding model over the network, for the recording around it."""

from __future__ import annotations

import contextlib
import math
from array import array
from collections.abc import Iterator
from itertools import chain

from langchain_core.embeddings import Embeddings

from eval_pipeline.model_settings import EmbedderSettings
from eval_pipeline.models.connection import Connector
from eval_pipeline.models.faults import UnreadableReply
from eval_pipeline.models.run_calls import RunCalls

Vector = list[float]


class LiveEmbeddings:
    """One embedder's client, made on the first ask and kept.

    Every method raises a `ProviderFault` when no vectors could be had, and `CallFailed` when the provider
    refuses these very texts.
    """

    def __init__(self, settings: EmbedderSettings, connector: Connector, calls: RunCalls) -> None:
        self._settings = settings
        self._connector = connector
        self._calls = calls.of(settings)
        self._client: Embeddings | None = None

    async def pages(self, texts: list[str]) -> list[Vector]:
        """One vector a text."""
        client = self._connected()

        async def ask() -> list[Vector]:
            with _some_vectors():
                return _checked(texts, await client.aembed_documents(texts))

        return await self._calls.call(ask)

    def pages_blocking(self, texts: list[str]) -> list[Vector]:
        """As `pages`, for code that can't await."""
        client = self._connected()

        def ask() -> list[Vector]:
            with _some_vectors():
                return _checked(texts, client.embed_documents(texts))

        return self._calls.call_sync(ask)

    async def query(self, text: str) -> Vector:
        """The vector of one search query."""
        client = self._connected()

        async def ask() -> Vector:
            with _some_vectors():
                return _checked([text], [await client.aembed_query(text)])[0]

        return await self._calls.call(ask)

    def query_blocking(self, text: str) -> Vector:
        """As `query`, for code that can't await."""
        client = self._connected()

        def ask() -> Vector:
            with _some_vectors():
                return _checked([text], [client.embed_query(text)])[0]

        return self._calls.call_sync(ask)

    def _connected(self) -> Embeddings:
        if self._client is None:
            self._client = self._connector.embeddings(self._settings)
        return self._client


def _checked(texts: list[str], vectors: list[Vector]) -> list[Vector]:
    if len(vectors) != len(texts) or not all(vectors):
        raise UnreadableReply(f"{sum(map(bool, vectors))} vectors for {len(texts)} texts")
    if len(lengths := {len(vector) for vector in vectors}) > 1:
        raise UnreadableReply(f"vectors of {' and '.join(map(str, sorted(lengths)))} numbers in one reply")
    if not all(map(math.isfinite, chain.from_iterable(array("f", vector) for vector in vectors))):
        raise UnreadableReply("a vector with a number that is none, or too large for float32")
    return vectors


@contextlib.contextmanager
def _some_vectors() -> Iterator[None]:
    """The clients stumble, each in its own way, over a reply that has no vector."""
    try:
        yield
    except (AttributeError, IndexError, TypeError, OverflowError) as failure:
        raise UnreadableReply("a reply without vectors") from failure
    except ValueError as failure:
        if str(failure) != "No embedding data received":
            raise
        raise UnreadableReply("a reply without vectors") from failure
