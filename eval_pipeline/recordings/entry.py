"""One recorded call, and the line it is stored as."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from eval_pipeline.errors import CallFailed
from eval_pipeline.prices import call_cost
from eval_pipeline.recordings.credentials import without_credentials
from eval_pipeline.recordings.request import Kind, Request, Role
from eval_pipeline.recordings.scope import Scope

FORMAT_VERSION = 1
WORDS_KEPT = 200
MOST_TOKENS = 10**9
"""A provider that tells more of one call, or less than none, tells nothing that may be added up."""
# Named in an entry only when the call really went through them.
_LIBRARIES = {"langchain_core": "langchain-core", "deepeval": "deepeval"}

Pairs = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Entry:
    """One recorded call: what was asked in hashes and words, the response, and how it came about."""

    id: str
    """`<key>:<repeat>.<judge_repeat>:<ordinal>`."""
    kind: Kind
    role: Role
    model: str
    label: str
    cases: tuple[str, ...]
    """Every case that asked this, sorted."""
    parts: Pairs
    """Label and 12 hash digits, in the order asked."""
    explain: Pairs
    words: str
    response: dict[str, Any]
    usage: dict[str, int] | None
    """`input_tokens` and `output_tokens`, where the provider told them."""
    latency_ms: int
    at: str
    """UTC, to the second."""
    versions: dict[str, str]

    @classmethod
    def trusted(cls, fields: dict[str, Any]) -> Entry:
        """The entry of checked `fields`, six times faster than a frozen dataclass sets its own."""
        entry = cls.__new__(cls)
        entry.__dict__.update(fields)
        return entry

    @property
    def failure(self) -> CallFailed | None:
        """The failure this entry recorded in place of an answer, if it did."""
        match self.response:
            case {"error": {"kind": str(kind), "message": str(message), **more}, **rest} if not more | rest:
                return CallFailed(kind, message)
        return None

    @property
    def tokens(self) -> tuple[int, int]:
        """Input and output tokens that count: a chat's, where the provider told them."""
        if self.kind != "chat" or self.usage is None:
            return (0, 0)
        return (self.usage["input_tokens"], self.usage["output_tokens"])

    def cost_at(self, server: str | None) -> float | None:
        """What the chat cost when it was made, at the list price of a server; None where that is unknown."""
        if self.usage is None:
            return None
        return call_cost(self.model, *self.tokens, server=server, at=datetime.fromisoformat(self.at))

    @property
    def place(self) -> tuple[str, str, str, str, str]:
        """Where the entry stands in its file."""
        return (self.cases[0], self.role, self.label, self.kind, self.id)

    def line(self) -> bytes:
        """The entry as one line of JSON, without its newline.

        Raises:
            TypeError: when the response holds something JSON has not.
            ValueError: when it holds a NaN, an infinity or itself.
        """
        fields = {"v": FORMAT_VERSION, **vars(self)}
        if not self.explain:
            del fields["explain"]
        text = json.dumps(fields, sort_keys=True, ensure_ascii=False, allow_nan=False)
        # A lone surrogate has no UTF-8 form, but its backslash escape is what JSON would write.
        return text.encode("utf-8", "backslashreplace")


def describe_call(
    request: Request, asker: Scope, entry_id: str, response: dict[str, Any], latency_ms: float
) -> Entry:
    """The entry for a call just made."""
    return Entry(
        id=entry_id,
        kind=request.kind,
        role=asker.role,
        model=request.model,
        label=asker.label,
        cases=(asker.case_id,),
        parts=tuple((label, digits[:12]) for label, digits in request.parts.items()),
        explain=tuple((label, digits[:12]) for label, digits in request.explain.items()),
        words=without_credentials(" ".join(request.words.split()))[:WORDS_KEPT],
        response=response,
        usage=_usage(response),
        latency_ms=round(latency_ms),
        at=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        versions=_versions(),
    )


def describe_failure(failure: CallFailed) -> dict[str, Any]:
    """The response that stands for a failure, so that replay can raise it again."""
    return {"error": {"kind": failure.kind, "message": without_credentials(failure.message)}}


def _usage(response: dict[str, Any]) -> dict[str, int] | None:
    match response:
        case {"usage": {"input_tokens": int(asked), "output_tokens": int(answered)}} if (
            0 <= asked <= MOST_TOKENS and 0 <= answered <= MOST_TOKENS
        ):
            return {"input_tokens": asked, "output_tokens": answered}
    return None


def _versions() -> dict[str, str]:
    names = ["eval-pipeline", *(name for module, name in _LIBRARIES.items() if module in sys.modules)]
    python = ".".join(map(str, sys.version_info[:3]))
    return {"python": python} | {
        name.replace("eval-pipeline", "eval_pipeline"): _version(name) for name in names
    }


@cache
def _version(distribution: str) -> str:
    try:
        return version(distribution)
    except PackageNotFoundError:  # run from a checkout that was never installed
        return "unknown"
