"""Says why no recording answers a request: what differs from the nearest recorded one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
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
    at: str
    """When it was recorded."""


class _Topic(NamedTuple):
    """The requests of one role about one thing: only these are alike enough to compare."""

    role: Role
    kind: Kind
    label: str


class AskedIndex:
    """The requests recorded of one model, found by case or by what they are made of."""

    def __init__(self, entries: Iterable[Entry]) -> None:
        self._repeats: dict[str, set[tuple[int, int]]] = defaultdict(set)
        self._all: dict[_Topic, list[Recorded]] = defaultdict(list)
        self._by_case: dict[tuple[_Topic, str], list[Recorded]] = defaultdict(list)
        self._by_part: dict[tuple[_Topic, str, str], list[Recorded]] = defaultdict(list)
        self._in_order: set[int] = set()
        for entry in entries:
            key, repeats, _ = entry.id.split(":")
            of_run, of_judge = repeats.split(".")
            self._repeats[key].add((int(of_run), int(of_judge)))
            recorded = Recorded(entry.model, entry.cases, dict(entry.parts + entry.explain), entry.at)
            topic = _Topic(entry.role, entry.kind, entry.label)
            self._all[topic].append(recorded)
            for case_id in entry.cases:
                self._by_case[topic, case_id].append(recorded)
            for label, digits in recorded.labels.items():
                self._by_part[topic, label, digits].append(recorded)

    def repeats(self, key: str) -> set[tuple[int, int]]:
        """The repeats, of the run and of the judge, in which a request is recorded."""
        return self._repeats.get(key, set())

    def nearest(
        self,
        request: Request,
        asker: Scope,
        in_use: Collection[str] = (),
        before: Collection[str] = (),
        *,
        same_case: bool,
    ) -> Recorded | None:
        """The recorded request with the fewest differences, of the asker's case or of any.

        Of several, one that differs in nothing which is still `in_use` elsewhere, as what a changed part was
        before is not; then one that differs in what is known to be `before` it; then the one recorded last.
        """
        topic = _Topic(asker.role, request.kind, asker.label)
        labels, alike = _labels(request), _alike(request)
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

        def distance(recorded: Recorded) -> tuple[int, bool, bool]:
            differing = _differing(recorded.labels, alike)
            elsewhere = any(recorded.labels.get(label) in in_use for label in differing)
            earlier = any(recorded.labels.get(label) in before for label in differing)
            return len(differing), elsewhere, not earlier

        return min(self._newest_first(candidates)[:_MOST_COMPARED], key=distance, default=None)

    def _newest_first(self, found: list[Recorded]) -> list[Recorded]:
        """One of the index's own lists, put in order when it is first needed."""
        if id(found) not in self._in_order:
            found.sort(key=lambda recorded: recorded.at, reverse=True)
            self._in_order.add(id(found))
        return found


class Explained(NamedTuple):
    """Why nothing answers."""

    why: str
    nearest: Recorded | None = None
    """What it was compared with."""


def explain_miss(
    asked: Asking,
    own: AskedIndex,
    others: Iterable[AskedIndex],
    in_use: Collection[str] = (),
    before: Collection[str] = (),
) -> Explained:
    """Why nothing answers.

    Args:
        asked: What nothing answers.
        own: What is recorded of the model asked.
        others: What is recorded of the suite's other models, read only where `own` has nothing alike.
        in_use: Names of models, and 12 hash digits of parts, that somebody asks with now: none of these is
            what a changed one was before.
        before: 12 hash digits of parts that a changed one was before, as far as that is known.
    """
    request, asker = asked.request, asked.asker
    if (asker.repeat, asker.judge_repeat) in own.repeats(request.key):
        return Explained(
            f"the same request is recorded, but not for time {asked.ordinal + 1} that one run asks it"
        )
    if found := own.repeats(request.key) | own.repeats(request.key_in_first_repeat):
        known = sorted({of_judge if asker.role == "judge" else of_run for of_run, of_judge in found})
        which = f"repeat{'s' if len(known) > 1 else ''} {', '.join(map(str, known))}"
        return Explained(f"the same request is recorded for {which}, but not for this one")
    for indexes in ([own], others):
        looked_at = list(indexes)
        for same_case in (True, False):
            for index in looked_at:
                nearest = index.nearest(request, asker, in_use, before, same_case=same_case)
                if nearest is not None and not _is_another(request, nearest, in_use):
                    where = "" if same_case else f" [nearest is case {nearest.cases[0]}]"
                    return Explained(_describe(request, nearest, in_use) + where, nearest)
    about = f"{asker.role} {asker.label}".rstrip()
    return Explained(f"nothing recorded for {about} with {request.model}")


def _is_another(request: Request, nearest: Recorded, in_use: Collection[str]) -> bool:
    """Whether it is of a model that was not renamed or replaced, but is asked beside this one."""
    return nearest.model != request.model and nearest.model in in_use


def _describe(request: Request, nearest: Recorded, in_use: Collection[str]) -> str:
    told = [f"model changed ({nearest.model} → {request.model})"] if nearest.model != request.model else []
    labels = _labels(request)
    differing = _differing(nearest.labels, _alike(request))
    finer = [label for label in differing if label not in request.covered]
    for label in finer if finer or told else differing:
        before, now = nearest.labels.get(label), labels.get(label)
        if before is None:
            told.append(f"{label} added")
        elif now is None:
            told.append(f"{label} removed")
        elif before in in_use:
            told.append(f"{label} is new")
        else:
            told.append(f"{label} changed ({before} → {now})")
    return "; ".join(told) or "its parts stand in another order"


def _labels(request: Request) -> dict[str, str]:
    return {label: digits[:12] for label, digits in (*request.parts.items(), *request.explain.items())}


def _alike(request: Request) -> dict[str, set[str]]:
    """What each label may be recorded as without a difference: a repeat's own seed is none."""
    alike = {label: {digits} for label, digits in _labels(request).items()}
    for label, digits in request.first_repeat.items():
        alike[label].add(digits[:12])
    return alike


def _differing(before: Mapping[str, str], now: Mapping[str, set[str]]) -> list[str]:
    changed = [label for label, digits in now.items() if before.get(label) not in digits]
    return changed + [label for label in before if label not in now]
