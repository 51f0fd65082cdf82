"""An agent trace: everything one run of the system did for one case."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from numbers import Integral, Real
from typing import Any, Literal, Protocol

from eval_pipeline.cases import Case

ToolStatus = Literal["ok", "error"]

NO_CALL = -1
"""The `call` of a retrieved document that no tool call found, or of which that is not known."""


LARGEST_COUNT = 2**53
"""What every reader of JSON counts exactly."""


@dataclass(frozen=True)
class ToolCall:
    """One tool call the agent made, with what the tool answered."""

    name: str
    arguments: Mapping[str, Any]
    output: str
    status: ToolStatus = "ok"
    round: int = 1
    """The model turn that asked for it, counted from 1."""


@dataclass(frozen=True)
class RetrievedDocument:
    """One document a search put before the agent."""

    id: str
    rank: int
    """Place in its search's results, from 1."""
    score: float
    """Similarity as the retriever gave it."""
    text: str
    call: int
    """Index into the trace's tool calls, or NO_CALL."""


@dataclass(frozen=True)
class Usage:
    """What a run cost in model calls and tokens."""

    calls: int = 0
    """Model calls answered, from the recording or live."""
    called: int = 0
    """Of these, the ones really made now."""
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = None
    """List price of these calls when they were made, in US dollars; None where that is unknown."""

    @property
    def replayed(self) -> int:
        """Calls answered from the recording."""
        return self.calls - self.called


@dataclass(frozen=True)
class TraceError:
    """Why a run ended without a usable answer."""

    source: Literal["system", "provider"]
    kind: str
    message: str


@dataclass(frozen=True)
class AgentTrace:
    """Everything one run did, also when it broke off: then `error` is set and the rest is partial."""

    case_id: str
    repeat: int = 0
    answer: str | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    retrieved: tuple[RetrievedDocument, ...] = ()
    """In the order the agent saw them, search after search."""
    context: tuple[str, ...] = ()
    """The texts the answer may rest on: search results first, then other tool results."""
    messages: tuple[Mapping[str, Any], ...] = ()
    """The conversation as plain JSON: role, content, and tool calls where there are any."""
    structured: Any = None
    """Structured output, for a system that gives one."""
    usage: Usage = field(default_factory=Usage)
    latency_ms: float = 0.0
    """What the model calls took when they were made, each its last attempt alone, added up; the run's own
    time where it makes none."""
    error: TraceError | None = None
    tool_schemas: Mapping[str, str] = field(default_factory=dict)
    """Hash of each tool's schema, 12 digits, that its models were offered, by name."""

    @classmethod
    def trusted(cls, fields: dict[str, Any]) -> AgentTrace:
        """The trace of all its fields, which were looked at when it was made: at a tenth of the time."""
        trace = cls.__new__(cls)
        trace.__dict__.update(fields)
        return trace

    def __post_init__(self) -> None:
        """Refuse what could not be stored.

        Raises:
            TypeError: naming the field, so that it becomes an error of this case and of no other.
        """
        if not (self.answer is None or isinstance(self.answer, str)):
            raise TypeError(f"answer is {type(self.answer).__name__} {self.answer!r}; give text or None")
        members = {
            "tool_calls": (self.tool_calls, ToolCall),
            "retrieved": (self.retrieved, RetrievedDocument),
            "context": (self.context, str),
            "messages": (self.messages, Mapping),
        }
        for name, (values, kind) in members.items():
            wrong = next((value for value in values if not isinstance(value, kind)), None)
            if wrong is not None:
                raise TypeError(f"{name} holds {type(wrong).__name__} {wrong!r}; give {kind.__name__} only")
        for call in self.tool_calls:
            _refuse_other("tool_calls", call, texts=("name", "output"), counts=("round",))
        for found in self.retrieved:
            _refuse_other("retrieved", found, texts=("id", "text"), counts=("rank", "call"))
            _refuse_no_number("score of retrieved", found.score)
        _refuse_no_number("latency_ms", self.latency_ms)
        if self.error is not None:
            _refuse_other("error", self.error, texts=("source", "kind", "message"), counts=())


def _refuse_no_number(what: str, value: object) -> None:
    # As arithmetic has it, so numpy's count too; an integer may be larger than any float.
    if not isinstance(value, Real) or (isinstance(value, int) and abs(value) > LARGEST_COUNT):
        raise TypeError(f"{what} is {type(value).__name__} {str(value)[:20]!r}; give a number")


def _refuse_other(field_name: str, item: object, *, texts: Sequence[str], counts: Sequence[str]) -> None:
    for name in texts:
        if not isinstance(value := getattr(item, name), str):
            raise TypeError(f"{field_name} has {name} {type(value).__name__} {value!r}; give text")
    for name in counts:
        value = getattr(item, name)
        if not (isinstance(value, Integral) and -1 <= int(value) <= LARGEST_COUNT):
            raise TypeError(f"{field_name} has {name} {value!r}; give a whole number to {LARGEST_COUNT:,}")


def as_replayed(trace: AgentTrace) -> AgentTrace:
    """A trace as every replay gives it: scorers see it so, and cannot tell a live run from one."""
    if not trace.usage.called:
        return trace
    return replace(trace, usage=replace(trace.usage, called=0))


class System(Protocol):
    """A system under test, built once per cell and run once per case and repeat."""

    async def run(self, case: Case) -> AgentTrace:
        """Answer one case. Concurrent runs must not share state."""
        ...
