"""An answer as plain JSON, read as an agent trace."""

from __future__ import annotations

import json
import math
from typing import Any

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    JsonValue,
    ValidationError,
    field_validator,
    model_validator,
)

from eval_pipeline.errors import CallFailed
from eval_pipeline.traces import LARGEST_COUNT, NO_CALL, AgentTrace, RetrievedDocument, ToolCall, ToolStatus


class _Item(BaseModel):
    """One of a list: systems may say more of it than is kept."""

    model_config = ConfigDict(extra="ignore", frozen=True)


class CallItem(_Item):
    """A tool call: its name alone, or with arguments and output."""

    name: str
    arguments: dict[str, JsonValue] = Field(default_factory=dict)
    output: str = ""
    status: ToolStatus = "ok"
    round: int = Field(default=1, ge=1, le=LARGEST_COUNT)

    @model_validator(mode="before")
    @classmethod
    def _from_name(cls, value: Any) -> Any:
        return {"name": value} if isinstance(value, str) else value

    @field_validator("arguments", mode="before")
    @classmethod
    def _from_json(cls, value: Any) -> Any:
        return json.loads(value) if isinstance(value, str) else value

    @field_validator("output", mode="before")
    @classmethod
    def _in_words(cls, value: Any) -> Any:
        return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


class FoundItem(_Item):
    """A retrieved document: its id alone, or with text and score."""

    id: str
    text: str = ""
    score: float | None = None
    call: int = Field(default=NO_CALL, ge=NO_CALL, le=LARGEST_COUNT)

    @model_validator(mode="before")
    @classmethod
    def _from_id(cls, value: Any) -> Any:
        return {"id": value} if isinstance(value, str) else value


class AnswerFields(BaseModel):
    """An answer with everything that may be said about how it came about."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    answer: str | None = None
    tool_calls: list[CallItem] = Field(default_factory=list)
    retrieved: list[FoundItem] = Field(default_factory=list)
    context: list[str] | None = None
    """Left out: the texts of the retrieved documents and the outputs of the tools."""
    structured: JsonValue = None
    messages: list[dict[str, JsonValue]] = Field(default_factory=list)
    usage: dict[str, JsonValue] | None = None
    """`input_tokens` and `output_tokens`, which the recording counts."""


def read_answer(data: Any, case_id: str) -> AgentTrace:
    """The trace of an answer.

    Raises:
        CallFailed: `empty_answer` or `malformed_answer`.
    """
    try:
        fields = AnswerFields.model_validate(data)
    except ValidationError as failure:
        raise CallFailed("malformed_answer", _problems(failure)) from None
    if not (fields.answer or "").strip() and fields.structured is None:
        raise CallFailed("empty_answer", "the system answered nothing")
    texts = [found.text for found in fields.retrieved] + [call.output for call in fields.tool_calls]
    return AgentTrace(
        case_id,
        answer=fields.answer,
        tool_calls=tuple(ToolCall(**dict(call)) for call in fields.tool_calls),
        retrieved=tuple(
            RetrievedDocument(
                found.id, rank, math.nan if found.score is None else found.score, found.text, found.call
            )
            for rank, found in enumerate(fields.retrieved, start=1)
        ),
        context=tuple(dict.fromkeys(text for text in texts if text))
        if fields.context is None
        else tuple(fields.context),
        messages=tuple(fields.messages),
        structured=fields.structured,
    )


def _problems(failure: ValidationError) -> str:
    told = (f"{'.'.join(map(str, detail['loc']))}: {detail['msg']}" for detail in failure.errors())
    return "; ".join(told)[:500]
