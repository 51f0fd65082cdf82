"""What a function returned, as the plain JSON that is recorded."""

from __future__ import annotations

import dataclasses
import json
import math
from typing import Any

from eval_pipeline.boundary.answers import AnswerFields
from eval_pipeline.errors import CallFailed, ProviderFault
from eval_pipeline.json_data import unusable_in
from eval_pipeline.traces import AgentTrace


def as_json(value: Any) -> dict[str, Any]:
    """What a function returned as the plain JSON that is recorded.

    Raises:
        CallFailed: when it is nothing to read an answer from.
        ProviderFault: when it is a trace that says so.
    """
    if isinstance(value, AgentTrace):
        value = _from_trace(value)
    if isinstance(value, str):
        value = {"answer": value}
    if not isinstance(value, dict):
        kind = type(value).__name__
        raise CallFailed(
            "malformed_answer", f"returned {kind}; return text, a dict with `answer`, or an AgentTrace"
        )
    try:
        plain: dict[str, Any] = json.loads(json.dumps(value, allow_nan=False))
    except (TypeError, ValueError, RecursionError) as failure:
        raise CallFailed("malformed_answer", f"returned what is no plain JSON: {failure}") from None
    if unusable := unusable_in(plain):
        raise CallFailed("malformed_answer", f"returned what is no plain JSON: {unusable}")
    return plain


def _from_trace(trace: AgentTrace) -> dict[str, Any]:
    if trace.error is not None:
        kind = CallFailed if trace.error.source == "system" else ProviderFault
        raise kind(trace.error.kind, trace.error.message)
    fields = dataclasses.asdict(trace)
    kept = {name: fields[name] for name in AnswerFields.model_fields}
    for found in kept["retrieved"]:
        found["score"] = None if math.isnan(found["score"]) else found["score"]
    tokens = {name: fields["usage"][name] for name in ("input_tokens", "output_tokens")}
    return {**kept, "usage": tokens if any(tokens.values()) else None}
