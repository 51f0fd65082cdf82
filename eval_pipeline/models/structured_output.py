"""Replies that fit a JSON schema: how each provider is asked for them, and how strictly they are read."""

from __future__ import annotations

from typing import Any

from langchain_core.messages import AIMessage
from langchain_core.utils.function_calling import convert_to_json_schema
from pydantic import BaseModel

from eval_pipeline.errors import CallFailed
from eval_pipeline.structured_replies import fit_reply, parse_reply


def client_options(model: str, schema: dict[str, Any]) -> dict[str, Any]:
    """What a provider's client is called with, so that the reply fits the schema.

    The same as its own `with_structured_output(schema, method="json_schema")`, without the parser behind it:
    that costs more than the call, mends broken JSON in silence, and what it makes is not used.
    """
    provider = model.partition(":")[0]
    if provider == "google_genai":
        return {"response_mime_type": "application/json", "response_json_schema": schema}
    if provider == "ollama":
        return {"format": schema}
    named = {key: schema[key] for key in ("description",) if key in schema}
    body = {key: value for key, value in schema.items() if key not in ("title", "description")}
    named |= {"name": schema.get("title", "reply"), "strict": False, "schema": body}
    return {"response_format": {"type": "json_schema", "json_schema": named}}


def schema_of(wanted: dict[str, Any] | type) -> dict[str, Any]:
    """The JSON schema of a pydantic model, or of what LangChain else takes for a schema."""
    schema: dict[str, Any] = convert_to_json_schema(wanted)
    return schema


def read_strictly(message: AIMessage, wanted: dict[str, Any] | type) -> Any:
    """The reply as what was wanted: JSON without a fence or a repair, and no field too many.

    Raises:
        CallFailed: when the reply is something else.
    """
    try:
        data = parse_reply(message.text)
        if isinstance(wanted, type) and issubclass(wanted, BaseModel):
            return fit_reply(data, wanted)
    except ValueError as failure:
        why = " ".join(str(failure).split())
        raise CallFailed("malformed_reply", f"not of the schema: {why}: {message.text[:200]!r}") from None
    return data
