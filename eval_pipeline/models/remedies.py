"""What to do about a call that failed, in words: the end of every error of a model."""

from __future__ import annotations

from eval_pipeline.model_settings import ModelSettings
from eval_pipeline.models.keys import key_variables

_AGAIN = "then run the same command again: what is recorded stays"
_REMEDIES = {
    "http_404": "check the model's name and its base_url",
    "http_429": f"lower max_concurrency or wait for the quota, {_AGAIN}",
    "no_quota": "check the plan and billing of the account",
    "timeout": f"raise timeout_s, or wait until the provider is faster, {_AGAIN}",
    "connection": f"see that the server runs and base_url is right, {_AGAIN}",
    "broken_stream": f"see what the server's log says, {_AGAIN}",
    "bad_address": "write base_url as http://host:port or https://host, with the path that the API has",
    "malformed_body": "see that base_url is the API's own address, and the model of the kind that is asked",
    "client_error": "see that base_url is the API's own address, and the settings what its client takes",
    "refused_request": "change the model's settings, or what the system sends it",
    "truncated": "raise the limit on its tokens in the model's settings",
    "blocked": "change what the system sends, or the provider's safety settings",
    "refused": "change what the system sends, or take another model",
    "malformed_call": "take a model that calls tools reliably, or `tool_calling: json_schema`",
    "empty_answer": "change what the system sends, or take another model",
}
_REMEDIES_OF_SYSTEMS = {
    "http_401": "check the variables that its headers name",
    "http_403": "check the variables that its headers name, and their rights",
    "http_404": "check the path of its url",
    "http_429": f"lower its max_concurrency, {_AGAIN}",
    "timeout": f"raise its timeout_s, or wait until it is faster, {_AGAIN}",
    "connection": f"see that it runs and its address is right, {_AGAIN}",
    "bad_address": "write its url as http://host:port/path",
    "malformed_body": "see that its address is that of an API that answers in JSON",
    "refused_request": "change the `request` in suite.yaml, or the case's input",
}


def remedy(kind: str, settings: ModelSettings) -> str:
    """What the reader of an error of this kind can do about it."""
    if settings.name.startswith("system:"):
        return _REMEDIES_OF_SYSTEMS.get(kind, f"see what the system's log says, {_AGAIN}")
    if kind in ("http_400", "http_401", "http_403"):
        keys = " or ".join(key_variables(settings))
        return f"check the key in {keys} and its rights" if keys else "check the server's access rules"
    if kind == "http_404" and settings.name.startswith("ollama:"):
        return f"check its base_url, or get the model: ollama pull {settings.name.partition(':')[2]}"
    return _REMEDIES.get(kind, f"wait until the provider is well, {_AGAIN}")
