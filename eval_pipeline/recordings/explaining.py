"""Says why no recording answers a request: what differs from the nearest recorded one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from eval_pipeline.recordings.asking import Asking
from eval_pipeline.recordings.entry import Entry
from eval_pipeline.recordings.request import Kind, Request, Role
from eval_pipeline.recordings.scope import Scope

# Comparing is linear; that many of the most alike candidates say as much as all of them.
_MOST_COMPARED = 300


class Recorded(NamedTuple):
    """What a miss is compared with: one recorded request."""

    model: str
    cases: tuple[str, ...]
    labels: dict[str, str]
    """Part or explaining label to 12 hash digits, in order."""


class _Topic(NamedTuple):
    """The requests of one role about one thing: only these are alike enough to compare."""

    role: Role
    kind: Kind
    label: str


class AskedIndex:
    """The requests recorded of one model, found by case or by what they are made of."""

    def __init__(self, entries: Iterable[Entry]) -> None:
        self.keys: set[str] = set()
        self._all: dict[_Topic, list[Recorded]] = defaultdict(list)
        self._by_case: dict[tuple[_Topic, str], list[Recorded]] = defaultdict(list)
        self._by_part: dict[tuple[_Topic, str, str], list[Recorded]] = defaultdict(list)
        for entry in entries:
            self.keys.add(entry.id.partition(":")[0])
            recorded = Recorded(entry.model, entry.cases, dict(entry.parts + entry.explain))
            topic = _Topic(entry.role, entry.kind, entry.label)
            self._all[topic].append(recorded)
            for case_id in entry.cases:
                self._by_case[topic, case_id].append(recorded)
            for label, digits in recorded.labels.items():
                self._by_part[topic, label, digits].append(recorded)

    def nearest(self, request: Request, asker: Scope, *, same_case: bool) -> Recorded | None:
        """The recorded request with the fewest differences, of the asker's case or of any."""
        topic = _Topic(asker.role, request.kind, asker.label)
        labels = _labels(request)
        if same_case:
            candidates = self._by_case.get((topic, asker.case_id), [])
        else:
            # Who shares the part that fewest have is more alike than who shares the prompt.
            sharing = [
                found
                for label, digits in labels.items()
                if (found := self._by_part.get((topic, label, digits)))
            ]
            candidates = min(sharing, key=len, default=self._all.get(topic, []))
        return min(
            candidates[:_MOST_COMPARED],
            key=lambda recorded: len(_differing(recorded.labels, labels)),
            default=None,
        )


def explain_miss(asked: Asking, own: AskedIndex, others: Iterable[AskedIndex]) -> str:
    """Why nothing answers.

    Args:
        asked: What nothing answers.
        own: What is recorded of the model asked.
        others: What is recorded of the suite's other models, read only where `own` has nothing alike.
    """
    request, asker = asked.request, asked.asker
    if request.key in own.keys:
        return (
            f"the same request is recorded, but not for repeat {asker.repeat}, judge repeat "
            f"{asker.judge_repeat}, time {asked.ordinal + 1} that one run asks it"
        )
    for indexes in ([own], others):
        looked_at = list(indexes)
        for same_case in (True, False):
            for index in looked_at:
                nearest = index.nearest(request, asker, same_case=same_case)
                if nearest is not None:
                    where = "" if same_case else f" [nearest is case {nearest.cases[0]}]"
                    return _describe(request, nearest) + where
    about = f"{asker.role} {asker.label}".rstrip()
    return f"nothing recorded for {about} with {request.model}"


def _describe(request: Request, nearest: Recorded) -> str:
    told = [f"model changed ({nearest.model} → {request.model})"] if nearest.model != request.model else []
    labels = _labels(request)
    differing = _differing(nearest.labels, labels)
    finer = [label for label in differing if label not in request.covered]
    for label in finer if finer or told else differing:
        before, now = nearest.labels.get(label), labels.get(label)
        if before is None:
            told.append(f"{label} added")
        elif now is None:
            told.append(f"{label} removed")
        else:
            told.append(f"{label} changed ({before} → {now})")
    return "; ".join(told) or "its parts stand in another order"


def _labels(request: Request) -> dict[str, str]:
    return {label: digits[:12] for label, digits in (*request.parts.items(), *request.explain.items())}


def _differing(before: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    changed = [label for label, digits in now.items() if before.get(label) != digits]
    return changed + [label for label in before if label not in now]
