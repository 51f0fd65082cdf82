"""Keeps keys and passwords out of text: by how they look, and by their values in the environment.

What a tool puts out goes to the model as it is, key included, so that a replay asks what was asked live.
What is kept of it shows `***`: the words of a recording, the response that echoes it, and all that the
warehouse stores. There, and in responses, only values of secret variables are hidden: a page about keys
must stay as it is.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Collection, Iterable, Sequence
from typing import Any

from typing_extensions import Buffer

_HIDDEN = "***"
_PATTERNS = tuple(
    (words, re.compile(pattern, re.IGNORECASE))
    for words, pattern in (
        (("://",), r"(?P<before>\w://)[^/\s@]+(?=@)"),
        (
            ("key=", "token=", "sig=", "signature=", "password="),
            r"(?P<before>[?&](?:[\w-]*key|[\w-]*token|sig|signature|password)=)[^&\s\"'<>]+",
        ),
        (
            ("api_key", "api-key", "authorization"),
            r"(?P<before>(?:api[-_]key|authorization)[\"']?\s*[:=]\s*[\"']?(?:bearer\s+|basic\s+)?)"
            r"[^\s\"',}]+",
        ),
        (("bearer",), r"(?P<before>\bbearer\s+)[\w.~+/=-]{16,}"),
        (("sk-",), r"(?P<before>\b)sk-[\w-]{16,}"),
        (("aiza",), r"(?P<before>\b)AIza[\w-]{30,}"),
    )
)
"""Patterns, each after words of which it needs one: most texts have none, and looking for those is cheap."""
_SECRET_VARIABLES = ("_KEY", "_TOKEN", "_SECRET", "_PASSWORD")
_SHORTEST_SECRET = 8
"""A shorter value is too likely to be a word of ordinary text."""
_DEEPEST_QUOTED = 2
"""A private key has line ends, which JSON writes as a backslash and a letter; arguments are JSON in JSON."""
_looked_up: tuple[dict[Any, Any] | None, tuple[str, ...]] = (None, ())
"""The environment as it was, and the secrets in it."""


def without_credentials(text: str) -> str:
    """`text` with URL passwords, key parameters, authorization headers and API keys as `***`."""
    text = without_secrets(text)
    folded = text.casefold()
    for words, pattern in _PATTERNS:
        if any(word in folded for word in words):
            text = pattern.sub(rf"\g<before>{_HIDDEN}", text)
    return text


def without_secrets(value: Any, also: Collection[str] = ()) -> Any:
    """Text or JSON with the values of secret environment variables as `***`, and nothing else changed.

    Secret is what a variable holds whose name ends like `OPENAI_API_KEY`, `HF_TOKEN` or `APP_SECRET`, and
    what is among `also`.
    """
    return _without(value, _secrets(also))


def secrets_in(buffers: Iterable[Buffer | None]) -> bool:
    """Whether any of these bytes hold the value of a secret environment variable."""
    secrets = [secret.encode("utf-8", "surrogateescape") for secret in _secrets()]
    if not secrets:
        return False
    return any(secret in bytes(buffer) for buffer in buffers if buffer is not None for secret in secrets)


def _secrets(also: Collection[str] = ()) -> Sequence[str]:
    named = _named_secrets()
    if not also:
        return named
    return _longest_first({*named, *_forms(also)})


def _named_secrets() -> Sequence[str]:
    """The values of the secret variables, the longest first; looked up anew when the environment changed."""
    global _looked_up
    # Reading all names takes longer than the rest of our work on a call; comparing what they are read from
    # does not. Nothing else tells of a change, and a Python without it looks them up each time.
    raw = getattr(os.environ, "_data", None)
    before, secrets = _looked_up
    if raw is None or raw != before:
        found = (os.environ[name].strip() for name in os.environ if name.endswith(_SECRET_VARIABLES))
        secrets = tuple(_longest_first(_forms(found)))
        _looked_up = (None if raw is None else dict(raw), secrets)
    return secrets


def _forms(values: Iterable[str]) -> set[str]:
    """The values that are long enough to be secret, as they are, as JSON writes them, and as JSON in JSON."""
    forms = {value for value in values if len(value) >= _SHORTEST_SECRET}
    for _ in range(_DEEPEST_QUOTED):
        forms |= {json.dumps(form, ensure_ascii=ascii)[1:-1] for form in forms for ascii in (True, False)}
    return forms


def _longest_first(secrets: Iterable[str]) -> list[str]:
    """In the order to look for them: one may be a part of another."""
    return sorted(secrets, key=len, reverse=True)


def _without(value: Any, secrets: Sequence[str]) -> Any:
    if not secrets:
        return value
    if isinstance(value, str):
        for secret in secrets:
            value = value.replace(secret, _HIDDEN)
        return value
    if isinstance(value, dict):
        return {_without(key, secrets): _without(item, secrets) for key, item in value.items()}
    if isinstance(value, list):
        return [_without(item, secrets) for item in value]
    return value
