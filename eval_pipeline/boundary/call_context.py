"""What a function is given beside the case's input, for one cell."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from eval_pipeline.documents import Document
from eval_pipeline.model_settings import EmbedderSettings, ModelSettings


@dataclass(frozen=True)
class CallContext:
    """The candidate's configuration and the dataset's documents: all of it is part of the recording's key."""

    prompt: str
    """Text of the candidate's prompt file; empty when it names none."""
    parameters: Mapping[str, Any]
    model: ModelSettings | None
    """What the candidate names as its model; the function makes its own client of it."""
    embedder: EmbedderSettings | None
    documents: tuple[Document, ...]
    fixtures: Mapping[str, Any]
