"""A judge: the model behind judged scorers, and everything it is asked with, under one id."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

from eval_pipeline.content_hash import content_hash
from eval_pipeline.model_settings import ModelSettings
from eval_pipeline.models.connection import Connector, ProviderConnector
from eval_pipeline.models.keys import refuse_missing_keys
from eval_pipeline.models.run_calls import RunCalls
from eval_pipeline.recordings import Recordings, Request, current_scope

if TYPE_CHECKING:
    from eval_pipeline.models.live_chat import LiveChat

TEMPLATE_LABEL = "judge template of"
"""Begins the label under which a recorded call keeps the hash of its template; metric and step follow."""


@dataclass(frozen=True)
class Judge:
    """A model that judges, with the hash of all that it is asked with."""

    model: ModelSettings
    rubric_sha: str
    """Hash of the templates and rubrics of the suite's judged scorers."""

    @cached_property
    def id(self) -> str:
        """Hash of model, settings, rubrics and templates; how the model is reached is no part of it."""
        return content_hash({"model": self.model.identity, "rubric": self.rubric_sha})

    @property
    def label(self) -> str:
        """`provider:model@<12 digits of the id>`, as results name it."""
        return f"{self.model.name}@{self.id[:12]}"


@dataclass(frozen=True)
class JudgePrompt:
    """One question to a judge: its text, and the pieces that it was made of."""

    text: str
    metric: str
    step: str
    """Which of the metric's questions it is, such as `generate_claims`."""
    template_sha: str
    inputs: Mapping[str, str] = field(default_factory=dict)
    """What was put into the template, by words a person understands: answer, question …"""


class JudgeCalls:
    """A judge opened for one run: its calls are answered from the recording, or made and recorded."""

    def __init__(
        self,
        judge: Judge,
        recordings: Recordings,
        connector: Connector | None = None,
        calls: RunCalls | None = None,
    ) -> None:
        """Nothing is asked, and no client made, before the first call that is not recorded.

        Raises:
            ProviderFault: `no_key`, in a live mode, when the provider's key is missing.
        """
        self.judge = judge
        self._recordings = recordings
        self._connector = connector or ProviderConnector()
        self._calls = calls or RunCalls()
        self._own_parts: dict[int, dict[str, str]] = {}
        self._live: dict[int, LiveChat] = {}
        self._schema_hashes: dict[int, tuple[Any, str]] = {}
        if recordings.mode != "none" and isinstance(self._connector, ProviderConnector):
            refuse_missing_keys(judge.model)

    @property
    def window(self) -> int:
        """How many checks to have under way at once."""
        return self._calls.window(self.judge.model)

    async def ask(self, prompt: JudgePrompt, schema: dict[str, Any]) -> str:
        """The judge's reply as it gave it, usable or not.

        Args:
            prompt: what it is asked.
            schema: JSON schema that the reply is to fit; give the same object for the same schema.

        Raises:
            CallFailed: when the reply was blocked, refused, truncated or empty.
            ProviderFault: when none could be had.
            RecordingMiss: on replay, when nothing is recorded for it.
        """
        repeat = current_scope().judge_repeat

        async def live() -> dict[str, Any]:
            from langchain_core.messages import HumanMessage

            reply = await self._chat(repeat).ask([HumanMessage(prompt.text)], schema=schema, options={})
            usage = reply.usage_metadata
            tokens = usage and {name: usage[name] for name in ("input_tokens", "output_tokens")}
            return {"text": reply.text, "usage": tokens}

        response = await self._recordings.ask(self._request(prompt, schema, repeat), live)
        return str(response["text"])

    def _chat(self, repeat: int) -> LiveChat:
        if repeat not in self._live:
            from eval_pipeline.models.live_chat import LiveChat

            settings = self.judge.model.in_repeat(repeat)
            self._live[repeat] = LiveChat(settings, self._connector, self._calls)
        return self._live[repeat]

    def _request(self, prompt: JudgePrompt, schema: dict[str, Any], repeat: int) -> Request:
        shown = prompt.inputs.get("answer") or next(iter(prompt.inputs.values()), "")
        return Request(
            kind="chat",
            model=self.judge.model.name,
            parts={
                **self._parts(repeat),
                "text": content_hash(prompt.text),
                "response schema": self._schema_hash(schema),
            },
            explain={
                f"{TEMPLATE_LABEL} {prompt.metric} ({prompt.step})": prompt.template_sha,
                **{label: content_hash(text) for label, text in prompt.inputs.items()},
            },
            first_repeat=self._parts(0) if repeat else {},
            covered=frozenset({"text"}),
            words=f"{prompt.metric} {prompt.step}: {shown}",
            server=self.judge.model.base_url,
        )

    def _parts(self, repeat: int) -> dict[str, str]:
        if repeat not in self._own_parts:
            settings = self.judge.model.in_repeat(repeat)
            parts = {"parameters": content_hash(settings.settings)}
            if settings.weights:
                parts["weights"] = content_hash(settings.weights)
            self._own_parts[repeat] = parts
        return self._own_parts[repeat]

    def _schema_hash(self, schema: dict[str, Any]) -> str:
        if id(schema) not in self._schema_hashes:
            self._schema_hashes[id(schema)] = (schema, content_hash(schema))
        return self._schema_hashes[id(schema)][1]
