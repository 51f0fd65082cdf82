"""One question to a model, reduced to the hashes that decide whether it was asked before."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from eval_pipeline.content_hash import content_hash

Mode = Literal["none", "new_episodes", "all"]
Role = Literal["agent", "judge"]
Kind = Literal["chat", "embed"]
InUse = Mapping[Role, Collection[str]]
"""By role: names of models, and 12 hash digits of parts such as prompts, that somebody asks with now."""
TOOL_SCHEMA = "schema of tool "
"""Begins the label of the part that a tool's schema is."""


@dataclass(frozen=True)
class Request:
    """One question to one model, as the hashes of what it is made of."""

    kind: Kind
    model: str
    """As `provider:model`."""
    parts: Mapping[str, str]
    """Label to full 64-digit content hash, in the order the model is given them."""
    explain: Mapping[str, str] = field(default_factory=dict)
    """Finer labels to full hashes: not in the key, they only make a miss readable."""
    covered: frozenset[str] = frozenset()
    """Labels of `parts` that a miss names only when nothing else differs."""
    words: str = ""
    """The last message in words, for whoever reviews the recording."""
    server: str | None = None
    """The model's `base_url`: no part of the key, as the same model answers; prices go by it."""
    first_repeat: Mapping[str, str] = field(default_factory=dict)
    """The parts that hold this repeat's own seed, as they are in repeat 0."""

    @cached_property
    def key(self) -> str:
        """64 hex digits over kind, model and the ordered parts."""
        return content_hash([self.kind, self.model, list(self.parts.items())])

    @property
    def key_in_first_repeat(self) -> str:
        """The key of the same question in repeat 0."""
        parts = {**self.parts, **self.first_repeat}
        return content_hash([self.kind, self.model, list(parts.items())])
