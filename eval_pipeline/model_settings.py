"""One model as a suite declares it: what it is (part of every key) and how to reach it (part of none)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, JsonValue, field_validator, model_validator

from eval_pipeline.recordings.credentials import without_credentials
from eval_pipeline.suggestions import did_you_mean

CHAT_PROVIDERS = ("google_genai", "ollama", "openai")
EMBEDDING_PROVIDERS = (*CHAT_PROVIDERS, "onnx")

OWN_FIELDS = {
    "model": "name",
    "base_url": "base_url",
    "timeout": "timeout_s",
    "request_timeout": "timeout_s",
}
"""Client options that have a field here, by their name in `settings`."""
_CREDENTIAL = re.compile(
    r"(api[-_]?key|secret|password|authorization|cookie)$|(^|(api|auth|access|bearer|session)[-_]?)token$|^auth$",
    re.IGNORECASE,
)
_CREDENTIAL_HEADER = re.compile(r"auth|cookie|key|token|secret|password", re.IGNORECASE)
"""Of headers; elsewhere such names are settings too, `eos_token` one of them."""

ToolCalling = Literal["native", "json_schema"]


class ModelSettings(BaseModel):
    """A chat model: `provider:model` alone, or a mapping with its settings."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    """`provider:model`; any OpenAI-compatible server is `openai:…` with a base URL."""
    weights: str | None = None
    """Hash of the model file, for a model served from one: other weights are another model."""
    settings: dict[str, JsonValue] = Field(default_factory=dict)
    """Passed to the client: temperature, seed, max_tokens, thinking_level, extra_body …"""
    tool_calling: ToolCalling = "native"
    """`json_schema` for models that call tools only when their output is constrained."""
    base_url: str | None = None
    """Address of the server; else the provider's own environment variable decides."""
    timeout_s: float = Field(default=120.0, gt=0)
    """Seconds that one attempt may take."""
    max_concurrency: int = Field(default=8, ge=1)
    """Calls in flight at once."""

    @model_validator(mode="before")
    @classmethod
    def _from_name(cls, value: Any) -> Any:
        return {"name": value} if isinstance(value, str) else value

    @field_validator("name")
    @classmethod
    def _known_provider(cls, name: str) -> str:
        return _checked_name(name, CHAT_PROVIDERS)

    @field_validator("settings")
    @classmethod
    def _only_settings(cls, settings: dict[str, JsonValue]) -> dict[str, JsonValue]:
        for name in settings:
            if name in OWN_FIELDS:
                raise ValueError(
                    f"{name!r} does not belong here; write {OWN_FIELDS[name]!r} beside 'settings'"
                )
            if name == "max_retries":
                raise ValueError("'max_retries' cannot be set: the pipeline itself retries; remove it")
        for place in _credentials(settings):
            raise ValueError(f"{place!r} is a credential; set the provider's environment variable instead")
        return settings

    @property
    def identity(self) -> dict[str, JsonValue]:
        """What makes this model answer as it does: hashed into keys and requests."""
        return {
            "name": self.name,
            "weights": self.weights,
            "settings": self.settings,
            "tool_calling": self.tool_calling,
        }

    def in_repeat(self, repeat: int) -> Self:
        """The settings for one repeat: a seed becomes `seed + repeat`, all else stays as in production.

        Without a seed, or with a negative one, which draws a new one each time, every repeat has the same.
        """
        seed = self.settings.get("seed")
        if not repeat or not isinstance(seed, int) or seed < 0:
            return self
        return self.model_copy(update={"settings": {**self.settings, "seed": seed + repeat}})


class EmbedderSettings(ModelSettings):
    """An embedding model, declared like a chat model."""

    @field_validator("name")
    @classmethod
    def _known_provider(cls, name: str) -> str:
        return _checked_name(name, EMBEDDING_PROVIDERS)


def _checked_name(name: str, providers: tuple[str, ...]) -> str:
    provider, colon, model = name.partition(":")
    if not colon or not model or not provider or re.search(r"\s", name):
        raise ValueError(f"{name!r} is not 'provider:model', such as 'ollama:gemma4:e2b'")
    if provider not in providers:
        raise ValueError(
            f"unknown provider {provider!r} in {name!r}{did_you_mean(provider, list(providers))}"
        )
    return name


def _credentials(value: JsonValue, place: str = "", named: re.Pattern[str] = _CREDENTIAL) -> Iterator[str]:
    """Where settings hold a credential, by its name or by how it looks: keys and reports show settings."""
    if isinstance(value, str):
        if without_credentials(value) != value:
            yield place
    elif isinstance(value, dict):
        for name, item in value.items():
            inside = f"{place}.{name}" if place else name
            if named.search(name):
                yield inside
            else:
                headers = name.lower().endswith("headers")
                yield from _credentials(item, inside, _CREDENTIAL_HEADER if headers else _CREDENTIAL)
    elif isinstance(value, list):
        for item in value:
            yield from _credentials(item, place, named)
