"""The run on whose behalf models are asked: it follows the code through tasks and tools."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from eval_pipeline.errors import RecordingMiss
from eval_pipeline.prices import total_cost
from eval_pipeline.recordings.request import TOOL_SCHEMA, Request, Role

# Tools that run in threads ask on behalf of the run that called them.
_COUNTING = threading.Lock()


@dataclass
class Scope:
    """One run of the agent, or of one judged metric, over one case; counts what it asks."""

    case_id: str
    role: Role = "agent"
    label: str = ""
    """The metric of a judge, or what is embedded, such as `documents`."""
    repeat: int = 0
    judge_repeat: int = 0
    asked: Counter[str] = field(default_factory=Counter)
    """How many ordinals of each request key were handed out."""
    misses: list[RecordingMiss] = field(default_factory=list)
    used: list[str] = field(default_factory=list)
    """Ids of the entries that answered, in order."""
    calls: int = 0
    """Asks answered, from the recording or live."""
    called: int = 0
    """Of these, the ones that really went to the model."""
    input_tokens: int = 0
    output_tokens: int = 0
    latency_ms: float = 0.0
    """What the answered asks took when they were made, added up."""
    costs: list[float | None] = field(default_factory=list)
    """In US dollars, of each answered chat, at list price; None where there is none."""
    tool_schemas: dict[str, str] = field(default_factory=dict)
    """Hash of each tool's schema, 12 digits, that the model was offered, by name."""
    _waiting: int = field(default=0, repr=False)
    """Asks that wait for their answer just now."""
    _since: float = field(default_factory=time.monotonic, repr=False)
    """When the last of them had it."""
    _returned: dict[str, list[int]] = field(default_factory=dict, repr=False)

    @property
    def own_repeat(self) -> int:
        """The repeat of whoever asks: of the judge, or of the agent's run."""
        return self.judge_repeat if self.role == "judge" else self.repeat

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Wait for an answer in the block."""
        with _COUNTING:
            self._waiting += 1
        try:
            yield
        finally:
            with _COUNTING:
                self._waiting -= 1
                self._since = time.monotonic()

    def own_time_s(self) -> float:
        """Seconds since the run last waited for an answer, or began; 0 while it waits."""
        return 0.0 if self._waiting else time.monotonic() - self._since

    def take_ordinal(self, key: str) -> int:
        """How often this run asked `key` before, counting only asks that got an answer."""
        with _COUNTING:
            returned = self._returned.get(key)
            if returned:
                ordinal = min(returned)
                returned.remove(ordinal)
                return ordinal
            self.asked[key] += 1
            return self.asked[key] - 1

    def return_ordinal(self, key: str, ordinal: int) -> None:
        """Free the ordinal of an ask that got no answer.

        An agent that asks again after a dropped connection must be recorded as having asked
        once, or its replay, in which nothing drops, would look for an entry that isn't there.
        """
        with _COUNTING:
            self._returned.setdefault(key, []).append(ordinal)

    @property
    def cost(self) -> float | None:
        """What the answered chats cost when they were made, in US dollars; None where that is unknown."""
        return total_cost(self.costs)

    def note_tools(self, request: Request) -> None:
        """Keep the schemas of the tools that an answered ask offered."""
        for part, digits in request.parts.items():
            if part.startswith(TOOL_SCHEMA):
                self.tool_schemas[part.removeprefix(TOOL_SCHEMA)] = digits[:12]

    def count_answer(
        self,
        entry_id: str,
        *,
        called: bool,
        tokens: tuple[int, int],
        latency_ms: float,
        costs: Sequence[float | None] = (),
    ) -> None:
        """Add one answered ask, with its input and output tokens and what it took when it was made."""
        with _COUNTING:
            self.costs += costs
            self.calls += 1
            self.called += called
            self.input_tokens += tokens[0]
            self.output_tokens += tokens[1]
            self.latency_ms += latency_ms
            self.used.append(entry_id)


_CURRENT: ContextVar[Scope] = ContextVar("eval_pipeline_scope")


@contextmanager
def scope(
    case_id: str, role: Role = "agent", *, label: str = "", repeat: int = 0, judge_repeat: int = 0
) -> Iterator[Scope]:
    """Run the block as one run of `case_id`; asks made in it, or in tasks it starts, are its own."""
    opened = Scope(case_id, role, label, repeat, judge_repeat)
    token = _CURRENT.set(opened)
    try:
        yield opened
    finally:
        _CURRENT.reset(token)


def current_scope() -> Scope:
    """The innermost open scope.

    Raises:
        RuntimeError: when no scope is open, for then nobody could say whose question it is.
    """
    try:
        return _CURRENT.get()
    except LookupError:
        raise RuntimeError(
            "a model was asked outside of any run; open one with `with scope(case_id):`"
        ) from None
