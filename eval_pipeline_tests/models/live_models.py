"""Real clients of all three providers against the stub, recorded, with a clock that tests turn."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from langchain_core.embeddings import Embeddings
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage

from eval_pipeline.event_loop import run_async
from eval_pipeline.model_settings import EmbedderSettings, ModelSettings
from eval_pipeline.models import Models
from eval_pipeline.models.clock import Clock
from eval_pipeline.models.connection import ProviderConnector
from eval_pipeline.models.run_calls import Pools, RunCalls
from eval_pipeline.recordings import Entry, Mode, Recordings, read_entries, scope
from eval_pipeline_tests.provider_replies import Protocol
from eval_pipeline_tests.provider_stub import ProviderStub

Result = TypeVar("Result")
PROTOCOLS: tuple[Protocol, ...] = ("google", "ollama", "openai")
CHAT: dict[Protocol, str] = {
    "google": "google_genai:gemini-3.8-flash",
    "ollama": "ollama:gemma4:e2b",
    "openai": "openai:gpt-stub",
}
EMBEDDER: dict[Protocol, str] = {
    "google": "google_genai:gemini-embedding-2",
    "ollama": "ollama:qwen3-embedding:0.6b",
    "openai": "openai:embedding-stub",
}
KEYS = {"GOOGLE_API_KEY": "fake-google-key-0001", "OPENAI_API_KEY": "fake-openai-key-0001"}
SETTINGS = ModelSettings(name="openai:m", max_concurrency=2)
"""A model that may be asked twice at a time."""


class TurnedClock:
    """A clock that stands still but for the sleeps, which take no time and are kept in `waits`."""

    def __init__(self) -> None:
        self.time = 0.0
        self.waits: list[float] = []
        self.clock = Clock(lambda: self.time, self._sleep, self._turn)

    async def _sleep(self, seconds: float) -> None:
        self._turn(seconds)
        await asyncio.sleep(0)

    def _turn(self, seconds: float) -> None:
        self.time += seconds
        self.waits.append(seconds)


def run_calls() -> tuple[RunCalls, TurnedClock]:
    """Calls of one run that shares its pools with no other, and their clock."""
    time = TurnedClock()
    return RunCalls(Pools(time.clock), time.clock), time


class KeptClients:
    """`ProviderConnector`, keeping its clients: making one takes longer than a test.

    Nor are they closed: LangChain has no way to, and one that is thrown away warns of its open connections.
    """

    def __init__(self) -> None:
        self._clients: dict[str, Any] = {}

    def chat(self, settings: ModelSettings) -> BaseChatModel:
        return self._kept("chat", settings, ProviderConnector().chat)

    def embeddings(self, settings: EmbedderSettings) -> Embeddings:
        return self._kept("embeddings", settings, ProviderConnector().embeddings)

    def _kept(self, kind: str, settings: Any, make: Callable[[Any], Any]) -> Any:
        key = f"{kind} {settings.model_dump_json()}"
        if key not in self._clients:
            self._clients[key] = make(settings)
        return self._clients[key]


KEPT_CLIENTS = KeptClients()


@dataclass
class LiveModels:
    """Asks one provider through the stub; a run is what shares `calls`."""

    stub: ProviderStub
    folder: Path
    protocol: Protocol
    connector: Any = KEPT_CLIENTS
    time: TurnedClock = field(default_factory=TurnedClock)
    calls: RunCalls = field(init=False)

    def __post_init__(self) -> None:
        self.begin_run()

    def begin_run(self) -> None:
        self.calls = RunCalls(Pools(self.time.clock), self.time.clock)

    def models(self, recordings: Recordings, **settings: Any) -> Models:
        given = {"base_url": self.stub.base_url(self.protocol), **settings}
        chat = ModelSettings(name=CHAT[self.protocol], **given)
        embedder = EmbedderSettings(name=EMBEDDER[self.protocol], **given)
        return Models(chat, embedder, recordings, self.connector, self.calls)

    def run(
        self, work: Callable[[Models], Awaitable[Result]], mode: Mode = "new_episodes", **settings: Any
    ) -> Result:
        """What `work` makes of the models, in one scope; recorded at the end, whatever happens."""
        recordings = Recordings(self.folder, mode)

        async def in_scope() -> Result:
            with scope("case-1"):
                return await work(self.models(recordings, **settings))

        try:
            return run_async(in_scope())
        finally:
            recordings.close()

    def ask(self, question: str = "Hi", mode: Mode = "new_episodes", **settings: Any) -> AIMessage:
        return self.run(lambda models: models.chat().ainvoke(question), mode, **settings)

    def embed(self, text: str = "sync?", mode: Mode = "new_episodes", **settings: Any) -> list[float]:
        return self.run(lambda models: models.embeddings().aembed_query(text), mode, **settings)

    def recorded(self) -> list[Entry]:
        return list(read_entries(self.folder))
