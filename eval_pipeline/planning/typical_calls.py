"""What runs and checks like these took so far, from the recorded calls: for estimates, not for results."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from statistics import fmean

from eval_pipeline.judges import TEMPLATE_LABEL
from eval_pipeline.prices import call_cost
from eval_pipeline.recordings import Entry, Kind, Role, read_entries

_Configuration = tuple[str, ...]
"""Model, prompt, repeat, and the rest of what all calls of one run have in common."""
_OF_THE_RUN = ("parameters", "question")
_REPLY = "model reply "
"""Begins the label of each earlier reply of the model that a call is asked with."""

MOST_READ = 50_000
"""Recorded calls looked at."""
CHARACTERS_A_TOKEN = 4
"""About, of English; what embedders count is recorded nowhere."""


@dataclass(frozen=True)
class CallEstimate:
    """Calls to one model, with their tokens and list price as far as these can be foreseen."""

    model: str
    role: Role
    calls: float
    input_tokens: float | None
    """None where nothing like it is recorded."""
    output_tokens: float | None
    cost: float | None = None
    """US dollars; None where the model has no list price, or nothing like it is recorded."""
    at_least: int = 0
    """Of these, the ones that are certain: questions that are known now, and not recorded."""
    kind: Kind = "chat"
    """`embed` where texts are embedded; a call is a text then, whatever the batches."""

    @property
    def at_most(self) -> bool:
        """Whether none is certain: answers that do not change ask no judge."""
        return not self.at_least


@dataclass(frozen=True)
class Typical:
    """What one run of the agent, or one judged check, took."""

    calls: float
    input_tokens: float | None
    """Of one call; None where nothing like it is recorded."""
    output_tokens: float | None


@dataclass
class Chats:
    """Calls added up, with their tokens."""

    calls: float = 0.0
    input_tokens: float | None = 0.0
    """None once those of any are unknown."""
    output_tokens: float | None = 0.0

    def add(self, calls: float, like: Typical) -> None:
        """Add so many calls, each with the tokens of such ones."""
        self.calls += calls
        self.input_tokens = _add(self.input_tokens, like.input_tokens, calls)
        self.output_tokens = _add(self.output_tokens, like.output_tokens, calls)


@dataclass
class _Asked:
    """The recorded calls of one configuration about one case, or of several."""

    steps: set[str] = field(default_factory=set)
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0

    def add(self, entry: Entry) -> None:
        self.steps.add(_step(entry))
        asked, answered = entry.tokens
        self.calls += 1
        self.input_tokens += asked
        self.output_tokens += answered


class TypicalCalls:
    """What a suite's recorded chats took, by case where the case is recorded."""

    def __init__(self, entries: Iterable[Entry]) -> None:
        # By role, label and case.
        self._asked: dict[tuple[str, str], dict[str, dict[_Configuration, _Asked]]] = defaultdict(
            lambda: defaultdict(lambda: defaultdict(_Asked))
        )
        queries: dict[str, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
        for entry in entries:
            if entry.kind == "embed":
                for case_id in entry.cases if not entry.label else ():
                    queries[case_id][entry.model].append(len(entry.words))
                continue
            _, repeats, _ = entry.id.split(":")
            parts = dict(entry.parts)
            own = (parts.get(name, "") for name in _OF_THE_RUN)
            asked_with = (entry.model, parts.get("prompt", ""), repeats, *own)
            for case_id in entry.cases:
                self._asked[entry.role, entry.label][case_id][asked_with].add(entry)
        self._queries = {case_id: min(models.values(), key=len) for case_id, models in queries.items()}

    @classmethod
    def of(cls, recordings: Path) -> TypicalCalls:
        """From a suite's folder of recordings."""
        return cls(islice(read_entries(recordings), MOST_READ))

    def chats(
        self, role: Role, label: str, case_id: str, model: str, like: tuple[str, str] | None = None
    ) -> Typical:
        """What one run of the agent (label empty), or one judged check, took on a case; else on any.

        Args:
            role: who asks.
            label: what the calls are recorded under.
            case_id: about which case.
            model: who is asked: where it was asked before, that counts.
            like: model and prompt of the recorded call that is most alike, which count before all others.
        """
        cases = self._asked.get((role, label))
        if not cases:
            return Typical(1.0, None, None)
        if (found := cases.get(case_id)) is not None:
            # The fewest: other configurations, and repeats of this one, may have asked more.
            return _fewest(_most_alike(found, model, like))
        others = [_fewest(_most_alike(found, model, like)) for found in cases.values()]
        return Typical(
            fmean(other.calls for other in others),
            fmean(other.input_tokens or 0.0 for other in others),
            fmean(other.output_tokens or 0.0 for other in others),
        )

    def queries(self, case_id: str) -> tuple[float, float]:
        """Searches that a case's runs had embedded so far, and their characters; else the means."""
        if (found := self._queries.get(case_id)) is not None:
            return len(found), sum(found)
        if not self._queries:
            return 0.0, 0.0
        return fmean(map(len, self._queries.values())), fmean(map(sum, self._queries.values()))

    def estimate_texts(
        self, model: str, texts: float, characters: float, server: str | None, *, at_most: bool
    ) -> CallEstimate:
        """What it takes to embed so many texts, of so many characters in all."""
        tokens = characters / CHARACTERS_A_TOKEN
        cost = call_cost(model, round(tokens), 0, server=server)
        at_least = 0 if at_most else round(texts)
        return CallEstimate(model, "agent", texts, tokens, 0.0, cost, at_least, "embed")

    def estimate(
        self, model: str, role: Role, chats: Chats, server: str | None, *, at_least: int
    ) -> CallEstimate:
        """What so many calls take.

        Args:
            model: `provider:model`.
            role: who asks.
            chats: the calls, with their tokens.
            server: the model's `base_url`.
            at_least: how many of them are certain.
        """
        asked, answered = chats.input_tokens, chats.output_tokens
        if asked is None or answered is None:
            return CallEstimate(model, role, chats.calls, None, None, at_least=at_least)
        cost = call_cost(model, round(asked), round(answered), server=server)
        return CallEstimate(model, role, chats.calls, asked, answered, cost, at_least)


def _add(total: float | None, each: float | None, number: float) -> float | None:
    return None if total is None or each is None else total + number * each


def _most_alike(
    found: Mapping[_Configuration, _Asked], model: str, like: tuple[str, str] | None
) -> list[_Asked]:
    """Those of the nearest call's model and prompt, else those of the model, else all."""
    for alike in (
        [asked for key, asked in found.items() if key[:2] == like],
        [asked for key, asked in found.items() if key[0] == model],
    ):
        if alike:
            return alike
    return list(found.values())


def _fewest(found: Iterable[_Asked]) -> Typical:
    asked = min(found, key=lambda asked: len(asked.steps))
    return Typical(len(asked.steps), asked.input_tokens / asked.calls, asked.output_tokens / asked.calls)


def _step(entry: Entry) -> str:
    """What one run asks once, whatever came of it: a judge's step, an agent's round; else the call itself."""
    if template := next((label for label, _ in entry.explain if label.startswith(TEMPLATE_LABEL)), None):
        return template
    rounds = sum(label.startswith(_REPLY) for label, _ in entry.parts)
    return f"round {rounds}" if rounds else entry.id
