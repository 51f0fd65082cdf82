"""Which environment variable holds a provider's key, and whether it does."""

from __future__ import annotations

import os

from eval_pipeline.errors import ProviderFault
from eval_pipeline.model_settings import ModelSettings

_KEYS = {"google_genai": ("GOOGLE_API_KEY", "GEMINI_API_KEY"), "openai": ("OPENAI_API_KEY",)}
OPENAI_ADDRESSES = ("OPENAI_BASE_URL", "OPENAI_API_BASE")


def key_variables(settings: ModelSettings) -> tuple[str, ...]:
    """The variables that a model's provider looks for a key in, the first one set winning."""
    return _KEYS.get(settings.name.partition(":")[0], ())


def needs_no_key(settings: ModelSettings) -> bool:
    """Whether a model can be asked without a key: an own server, or Google's cloud with its own log-in."""
    provider = settings.name.partition(":")[0]
    if provider == "openai":
        return bool(settings.base_url or any(os.environ.get(name) for name in OPENAI_ADDRESSES))
    vertex = os.environ.get("GOOGLE_GENAI_USE_VERTEXAI", "").lower() in ("true", "1", "yes")
    return provider not in _KEYS or (provider == "google_genai" and vertex)


def missing_key(settings: ModelSettings) -> str | None:
    """What to say when a live call would find no key for this model, or None."""
    variables = key_variables(settings)
    if any(os.environ.get(variable) for variable in variables) or needs_no_key(settings):
        return None
    return f"{settings.name}: no key; set {' or '.join(variables)}, or replay with --record-mode none"


def refuse_missing_keys(*models: ModelSettings | None) -> None:
    """Make sure that every model that may be asked has its key.

    Raises:
        ProviderFault: `no_key`, with one line a model that lacks it.
    """
    missing = [text for settings in models if settings and (text := missing_key(settings))]
    if missing:
        raise ProviderFault("no_key", "; ".join(dict.fromkeys(missing)))
