"""A system whose whole answer to a case is one recorded call."""

from __future__ import annotations

import copy
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from eval_pipeline.boundary.settings import BoundarySettings
from eval_pipeline.cases import Case
from eval_pipeline.content_hash import content_hash
from eval_pipeline.errors import CallFailed
from eval_pipeline.recordings import Request, current_scope
from eval_pipeline.recordings.credentials import without_secrets
from eval_pipeline.system_spec import SystemContext
from eval_pipeline.traces import AgentTrace


@dataclass(frozen=True)
class RecordedSystem:
    """A system answering from the recording, and asked live only where that has nothing."""

    context: SystemContext
    settings: BoundarySettings
    parts: Mapping[str, str]
    """Hashes of all that an answer depends on beside the input, by words that explain a miss."""
    ask: Callable[[Any], Awaitable[dict[str, Any]]]
    """One attempt: the system's response to an input, as plain JSON."""
    read: Callable[[dict[str, Any], str], AgentTrace]
    """The trace that a response to a case makes; runs on replay too."""
    tells_model: bool = False
    """Whether it is told the settings of the candidate's model, whose seed is another in each repeat."""
    secrets: frozenset[str] = field(default=frozenset(), repr=False)
    """What must not stand in a recording, beside what secret variables hold."""

    async def run(self, case: Case) -> AgentTrace:
        """Answer one case.

        Raises:
            CallFailed: when the system fails by its own doing, now or when it was recorded.
            ProviderFault: when it cannot be reached.
            RecordingMiss: on replay, when nothing is recorded for it.
        """
        seeded = self._seeded()
        request = Request(
            kind="chat",
            model=self.settings.name,
            parts={**self.parts, **seeded, "case input": content_hash(case.input)},
            first_repeat={label: self.parts[label] for label in seeded},
            words=case.question,
        )
        calls = self.context.models.calls.of(self.settings)

        async def live() -> dict[str, Any]:
            # A copy, as the case must stay what its key says.
            response = await calls.call(lambda: self.ask(copy.deepcopy(case.input)))
            recordable: dict[str, Any] = without_secrets(response, self.secrets)
            return recordable

        response = await self.context.models.recordings.ask(request, live)
        try:
            return self.read(response, case.id)
        except CallFailed as failure:
            raise CallFailed(failure.kind, f"{self.settings.name}: {failure.message}") from None

    def _seeded(self) -> dict[str, str]:
        """The parts that are another in the current run's repeat than in repeat 0."""
        model = self.context.models.chat_settings
        if not self.tells_model or model is None or not (repeat := current_scope().repeat):
            return {}
        return {"model": content_hash(model.in_repeat(repeat).identity)}


def candidate_parts(context: SystemContext) -> dict[str, str]:
    """Hashes of what the candidate says, without what it leaves out."""
    models = context.models
    said = {
        "prompt": context.prompt,
        "parameters": dict(context.parameters),
        "model": models.chat_settings and models.chat_settings.identity,
        "embedder": models.embedder_settings and models.embedder_settings.identity,
    }
    return {label: content_hash(value) for label, value in said.items() if value}
