"""LangChain embeddings that answer from the recording, text by text."""

from __future__ import annotations

import base64
import time
from array import array
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from langchain_core.embeddings import Embeddings

from eval_pipeline.content_hash import content_hash
from eval_pipeline.errors import RecordingMiss, RecordingMisses
from eval_pipeline.model_settings import EmbedderSettings
from eval_pipeline.models.connection import Connector
from eval_pipeline.models.live_embeddings import LiveEmbeddings
from eval_pipeline.models.run_calls import RunCalls
from eval_pipeline.recordings import Recordings, Request, scope

Task = Literal["page", "search query"]
BATCH = 100
"""Pages that one call embeds: as many as Gemini takes, and what is on disk before the next call is made."""


class RecordingEmbeddings(Embeddings):
    """One recorded entry a text, whatever the batches: an edited page embeds itself again and no other."""

    def __init__(
        self,
        settings: EmbedderSettings,
        recordings: Recordings,
        connector: Connector,
        pages: Mapping[str, str],
        calls: RunCalls | None = None,
    ) -> None:
        """`pages` names the texts that are known documents, by text; `calls` are the run's."""
        self._settings = settings
        self._recordings = recordings
        self._pages = pages
        self._live = LiveEmbeddings(settings, connector, calls or RunCalls())
        self._parameters = content_hash([settings.settings, settings.weights])

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """One vector a text, as float32.

        Raises:
            RecordingMisses: on replay, naming every page that has no recorded vector.
            ProviderFault: when the embedder cannot be reached.
        """
        found, missing = self._recorded(texts)
        for batch in self._batches(missing):
            started = time.perf_counter()
            vectors = self._live.pages_blocking(batch)
            found |= self._keep_all(batch, vectors, started)
        return [found[text] for text in texts]

    async def aembed_documents(self, texts: list[str]) -> list[list[float]]:
        """As `embed_documents`."""
        found, missing = self._recorded(texts)
        for batch in self._batches(missing):
            started = time.perf_counter()
            vectors = await self._live.pages(batch)
            found |= self._keep_all(batch, vectors, started)
        return [found[text] for text in texts]

    def embed_query(self, text: str) -> list[float]:
        """The vector of one search query, as float32.

        Raises:
            RecordingMiss: on replay, when no vector is recorded for it.
            ProviderFault: when the embedder cannot be reached.
        """
        reply = self._recordings.ask_sync(
            self._request(text, "search query"),
            lambda: _packed(self._live.query_blocking(text)),
        )
        return _unpacked(reply)

    async def aembed_query(self, text: str) -> list[float]:
        """As `embed_query`."""

        async def live() -> dict[str, Any]:
            return _packed(await self._live.query(text))

        return _unpacked(await self._recordings.ask(self._request(text, "search query"), live))

    def _request(self, text: str, task: Task) -> Request:
        parts = {
            "embedder parameters": self._parameters,
            "task": content_hash(task),
            task: content_hash(text),
        }
        return Request(kind="embed", model=self._settings.name, parts=parts, words=text)

    def _recorded(self, texts: Sequence[str]) -> tuple[dict[str, list[float]], list[str]]:
        """The vectors that are recorded, and the texts that are not."""
        found: dict[str, list[float]] = {}
        missing: list[str] = []
        misses: list[RecordingMiss] = []
        for text in dict.fromkeys(texts):
            with scope(self._page(text), label="documents"):
                request = self._request(text, "page")
                reply = self._recordings.lookup(request)
                if reply is not None:
                    found[text] = _unpacked(reply)
                    continue
                missing.append(text)
                if self._recordings.mode == "none":
                    try:
                        self._recordings.miss(request)
                    except RecordingMiss as miss:
                        misses.append(miss)
        if misses:
            raise RecordingMisses(misses)
        return found, missing

    def _keep_all(
        self, texts: list[str], vectors: list[list[float]], started: float
    ) -> dict[str, list[float]]:
        """Record a batch; the vectors as replay will give them, by text."""
        each_ms = (time.perf_counter() - started) * 1000 / len(texts)
        kept: dict[str, list[float]] = {}
        for text, vector in zip(texts, vectors, strict=True):
            with scope(self._page(text), label="documents"):
                reply = self._recordings.keep(
                    self._request(text, "page"), _packed(vector), latency_ms=each_ms
                )
            kept[text] = _unpacked(reply)
        return kept

    def _batches(self, texts: list[str]) -> Iterator[list[str]]:
        for start in range(0, len(texts), BATCH):
            self._recordings.refuse_unwritable(self._settings.name)
            yield texts[start : start + BATCH]

    def _page(self, text: str) -> str:
        return f"page {self._pages.get(text, text[:40])}"


def _packed(vector: Sequence[float]) -> dict[str, Any]:
    return {"vector": base64.b64encode(array("f", vector).tobytes()).decode("ascii")}


def _unpacked(reply: Mapping[str, Any]) -> list[float]:
    return array("f", base64.b64decode(reply["vector"])).tolist()
