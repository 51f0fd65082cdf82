"""What runs and checks like these took so far, from the recorded calls: for estimates, not for results."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from statistics import fmean

from eval_pipeline.judges import TEMPLATE_LABEL
from eval_pipeline.prices import call_cost
from eval_pipeline.recordings import Entry, Kind, Role, read_entries

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
class _Tokens:
    asked: float
    answered: float


class TypicalCalls:
    """Means over a suite's recorded chats, by case where the case is recorded."""

    def __init__(self, entries: Iterable[Entry]) -> None:
        per_run: dict[tuple[str, str, str], dict[tuple[str, ...], set[str]]] = defaultdict(
            lambda: defaultdict(set)
        )
        tokens: dict[tuple[str, str], list[tuple[int, int]]] = defaultdict(list)
        queries: dict[str, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
        for entry in entries:
            if entry.kind == "embed":
                for case_id in entry.cases if not entry.label else ():
                    queries[case_id][entry.model].append(len(entry.words))
                continue
            tokens[entry.role, entry.label].append(entry.tokens)
            _, repeats, _ = entry.id.split(":")
            asked_with = (entry.model, dict(entry.parts).get("prompt", ""), repeats)
            for case_id in entry.cases:
                per_run[entry.role, entry.label, case_id][asked_with].add(_step(entry))
        self._tokens = {
            key: _Tokens(fmean(asked for asked, _ in found), fmean(answered for _, answered in found))
            for key, found in tokens.items()
        }
        # The fewest: other configurations, and repeats of this one, may have asked more.
        self._calls = {key: min(map(len, steps.values())) for key, steps in per_run.items()}
        self._queries = {case_id: min(models.values(), key=len) for case_id, models in queries.items()}

    @classmethod
    def of(cls, recordings: Path) -> TypicalCalls:
        """From a suite's folder of recordings."""
        return cls(islice(read_entries(recordings), MOST_READ))

    def calls(self, role: Role, label: str, case_id: str) -> float:
        """Calls of one run of the agent (label empty), or of one judged check, on a case; 1 where unknown."""
        if (found := self._calls.get((role, label, case_id))) is not None:
            return found
        alike = [count for key, count in self._calls.items() if key[:2] == (role, label)]
        return fmean(alike) if alike else 1.0

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
        self, model: str, role: Role, calls_by_label: dict[str, float], server: str | None, *, at_least: int
    ) -> CallEstimate:
        """What so many calls take, each as those of its label did.

        Args:
            model: `provider:model`.
            role: who asks.
            calls_by_label: calls by the label they are recorded under.
            server: the model's `base_url`.
            at_least: how many of them are certain.
        """
        calls = sum(calls_by_label.values())
        if not all((role, label) in self._tokens for label in calls_by_label):
            return CallEstimate(model, role, calls, None, None, at_least=at_least)
        each = [(self._tokens[role, label], count) for label, count in calls_by_label.items()]
        asked = sum(tokens.asked * count for tokens, count in each)
        answered = sum(tokens.answered * count for tokens, count in each)
        cost = call_cost(model, round(asked), round(answered), server=server)
        return CallEstimate(model, role, calls, asked, answered, cost, at_least)


def _step(entry: Entry) -> str:
    """What one run asks once: a judge's step, which other answers were asked too; else the call itself."""
    return next((label for label, _ in entry.explain if label.startswith(TEMPLATE_LABEL)), entry.id)
