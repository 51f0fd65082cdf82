"""Settings of a model that its client would take in silence, and not as they were meant."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from eval_pipeline.errors import ProviderFault
from eval_pipeline.model_settings import ModelSettings
from eval_pipeline.models.remedies import remedy
from eval_pipeline.recordings.credentials import without_credentials
from eval_pipeline.suggestions import did_you_mean


def checked_address(settings: ModelSettings) -> str:
    """The base URL; Ollama's client would quietly ask another server when it can't make sense of it.

    Raises:
        ProviderFault: `bad_address`, when it is none.
    """
    address = settings.base_url or ""
    parts = urlsplit(address)
    if parts.scheme not in ("http", "https") or not parts.netloc:
        text = without_credentials(f"{settings.name}: base_url {address!r} is no address of a server")
        raise ProviderFault("bad_address", f"{text}; {remedy('bad_address', settings)}")
    return address


def refuse_unknown_settings(settings: ModelSettings, client: Any) -> None:
    """Make sure that the client knows every setting: some drop a misspelt one, which then changes nothing.

    Raises:
        ProviderFault: `bad_settings`, naming the first one that it does not know.
    """
    fields = type(client).model_fields
    known = {*fields, *(field.alias for field in fields.values() if field.alias)}
    for name in settings.settings:
        if name not in known:
            other = "num_predict" if name == "max_tokens" else name
            hint = f"; did you mean {other!r}?" if other in known else did_you_mean(name, known)
            raise ProviderFault(
                "bad_settings", f"{settings.name}: {type(client).__name__} has no setting {name!r}{hint}"
            )
