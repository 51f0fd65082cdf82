"""Asks a judge and reads its reply strictly: nothing is mended, skipped or miscounted in silence."""

from __future__ import annotations

import functools
import json
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from eval_pipeline.errors import CallFailed, ProviderFault, ScorerError
from eval_pipeline.judges import JudgeCalls, JudgePrompt

Reply = TypeVar("Reply", bound=BaseModel)

LISTS = ("truths", "claims", "statements", "verdicts")
"""Fields that hold a judge's steps; an empty one would score 1.0 in DeepEval."""
LONGEST_SHOWN = 200


async def ask_strictly(
    judge: JudgeCalls, prompt: JudgePrompt, kind: type[Reply], items: int | None = None
) -> Reply:
    """The judge's reply as a model of it.

    Args:
        judge: whom to ask.
        prompt: what it is asked.
        kind: the model of the reply; give the same class for the same question.
        items: how many verdicts there must be; None where it is no reply of verdicts.

    Raises:
        ScorerError: of source `judge` for a reply that is unusable, or none, and of source `provider` where
            none could be had.
        RecordingMiss: on replay, when nothing is recorded for it.
    """
    try:
        return read_reply(await judge.ask(prompt, reply_schema(kind, items)), kind, items)
    except CallFailed as failure:
        raise ScorerError(prompt.metric, f"{prompt.step}: {failure}", "judge") from failure
    except ProviderFault as failure:
        raise ScorerError(prompt.metric, str(failure), "provider") from failure
    except ValueError as failure:
        reason = f"unusable reply to {prompt.step}: {failure}"
        raise ScorerError(prompt.metric, reason, "judge") from failure


@functools.cache
def reply_schema(kind: type[BaseModel], items: int | None) -> dict[str, Any]:
    """The JSON schema a reply is asked to fit; with `items`, of just so many verdicts."""
    schema = kind.model_json_schema()
    if items is not None and "verdicts" in schema["properties"]:
        schema["properties"]["verdicts"] |= {"minItems": items, "maxItems": items}
    return schema


def read_reply(text: str, kind: type[Reply], items: int | None) -> Reply:
    """The reply as a model of it.

    Args:
        text: what the judge said.
        kind: the model of the reply; DeepEval has its own.
        items: how many verdicts there must be; None where it is no reply of verdicts.

    Raises:
        ValueError: saying what is wrong: no JSON, cut off, a key missing, surplus or double, a verdict that
            is no known word, too few or too many of them, an empty list.
    """
    try:
        # No fence, no NaN and no repair; pydantic would let a key stand twice.
        json.loads(text, object_pairs_hook=_without_duplicates, parse_constant=_no_constant)
        reply = kind.model_validate_json(text, strict=True, extra="forbid")
    except ValidationError as failure:
        details = failure.errors(include_url=False)
        told = "; ".join(f"{'.'.join(map(str, d['loc'])) or 'reply'}: {d['msg']}" for d in details[:3])
        raise ValueError(f"{told}: {_shown(text)}") from None
    except ValueError as failure:
        raise ValueError(f"no usable JSON ({failure}): {_shown(text)}") from None
    _refuse_empty(reply, text)
    verdicts = getattr(reply, "verdicts", None)
    if items is not None and verdicts is not None and len(verdicts) != items:
        counts = f"{_counted(len(verdicts), 'verdict')} for {_counted(items, 'item')}"
        raise ValueError(f"{counts}: {_shown(text)}")
    return reply


def _refuse_empty(reply: BaseModel, text: str) -> None:
    for name in (name for name in LISTS if name in type(reply).model_fields):
        steps = getattr(reply, name)
        if not steps or any(isinstance(step, str) and not step.strip() for step in steps):
            raise ValueError(f"{name} is empty or has an empty entry: {_shown(text)}")
    if getattr(reply, "reason", None) is not None and not str(reply.reason).strip():  # type: ignore[attr-defined]
        raise ValueError(f"the reason is empty: {_shown(text)}")


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def _shown(text: str) -> str:
    return repr(text if len(text) <= LONGEST_SHOWN else f"{text[: LONGEST_SHOWN - 1]}…")


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    data = dict(pairs)
    if len(data) < len(pairs):
        raise ValueError(f"a key stands twice among {', '.join(name for name, _ in pairs)}")
    return data


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON number")
