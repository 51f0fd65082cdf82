"""The models a system asks: real LangChain clients behind the recording.

`Models` is what a system gets. Nothing here imports LangChain or a provider until a model is used, and on
replay no provider is imported at all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from eval_pipeline.documents import Document
from eval_pipeline.errors import SuiteError
from eval_pipeline.model_settings import EmbedderSettings, ModelSettings
from eval_pipeline.models.connection import Connector, ProviderConnector
from eval_pipeline.models.keys import refuse_missing_keys
from eval_pipeline.models.run_calls import RunCalls
from eval_pipeline.recordings import Recordings

if TYPE_CHECKING:
    from eval_pipeline.models.chat import RecordingChatModel
    from eval_pipeline.models.embeddings import RecordingEmbeddings


@dataclass(frozen=True)
class Models:
    """One candidate's chat model and embedder, answering from the recording."""

    chat_settings: ModelSettings | None
    embedder_settings: EmbedderSettings | None
    recordings: Recordings
    connector: Connector = field(default_factory=ProviderConnector)
    calls: RunCalls = field(default_factory=RunCalls)
    """The live calls of the run; give all models of one run the same, and they share what they learn."""
    asked_here: bool = True
    """Whether the system asks its models here; one that is recorded as a whole has clients of its own."""

    def __post_init__(self) -> None:
        """Refuse to begin what would end at the first live call.

        Raises:
            ProviderFault: `no_key`, in a live mode, when a provider's key is missing.
        """
        if not self.asked_here or self.recordings.mode == "none":
            return
        if isinstance(self.connector, ProviderConnector):
            refuse_missing_keys(self.chat_settings, self.embedder_settings)

    def chat(self) -> RecordingChatModel:
        """The candidate's chat model: a LangChain `BaseChatModel`.

        Raises:
            SuiteError: when the candidate declares no model.
        """
        from eval_pipeline.models.chat import RecordingChatModel

        if self.chat_settings is None:
            raise SuiteError("the system asks a model, but the candidate names no `model` in suite.yaml")
        return RecordingChatModel(
            model_settings=self.chat_settings,
            recordings=self.recordings,
            connector=self.connector,
            calls=self.calls,
        )

    def embeddings(self, pages: Sequence[Document] = ()) -> RecordingEmbeddings:
        """The candidate's embedder: LangChain `Embeddings`; `pages` lets a miss name the page.

        Raises:
            SuiteError: when the candidate declares no embedder.
        """
        from eval_pipeline.models.embeddings import RecordingEmbeddings

        if self.embedder_settings is None:
            raise SuiteError("the system embeds texts, but the candidate names no `embedder` in suite.yaml")
        return RecordingEmbeddings(
            self.embedder_settings,
            self.recordings,
            self.connector,
            {page.text: page.id for page in pages},
            self.calls,
        )
