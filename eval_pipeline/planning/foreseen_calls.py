"""The calls that a run of one cell will make, as far as what misses on replay tells."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from eval_pipeline.cases import Run
from eval_pipeline.errors import RecordingMiss
from eval_pipeline.planning.typical_calls import CallEstimate, TypicalCalls
from eval_pipeline.scores import Stage
from eval_pipeline.stages import question_label
from eval_pipeline.suites import Cell, Suite

_PAGE_CHANGED = "page changed"
"""How the reason of a miss begins when only the text to embed is new."""


@dataclass
class _Texts:
    """Texts to embed."""

    calls: float = 0.0
    characters: float = 0.0


@dataclass
class ForeseenCalls:
    """Adds up what misses; a question that several runs or stages share is counted once."""

    suite: Suite
    cell: Cell
    typical: TypicalCalls
    pages: tuple[str, ...] = ()
    """What the pages would be recorded under that are embedded before anything can run."""
    _seen: set[object] = field(default_factory=set)
    _at_least: int = 0
    _chats: float = 0.0
    _chats_at_most: float = 0.0
    _texts: _Texts = field(default_factory=_Texts)
    _queries_at_most: _Texts = field(default_factory=_Texts)
    _judged: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    _judged_at_least: int = 0
    _judged_at_most: dict[str, float] = field(default_factory=lambda: defaultdict(float))

    def add_pages(self, misses: Sequence[RecordingMiss], runs: Sequence[Run]) -> None:
        """Pages that have to be embedded before the system can be built for these runs."""
        self.pages = tuple(dict.fromkeys(miss.call.entry_id for miss in misses))
        for miss in misses:
            self._add_text(miss)
        # An edited page is embedded by an embedder that knows the searches already.
        new_embedder = any(not miss.why.startswith(_PAGE_CHANGED) for miss in misses)
        for run in runs:
            self._chats_at_most += self.typical.calls("agent", "", run.case.id)
            if new_embedder:
                self._add_queries(run)

    def add_run(self, run: Run, miss: RecordingMiss) -> None:
        """A run of the system that gets as far as `miss`."""
        if self._is_known(miss):
            return
        typically = self.typical.calls("agent", "", run.case.id) - miss.call.chats_before
        if miss.call.kind == "embed":
            self._add_text(miss)
            self._chats_at_most += max(0.0, typically)
            return
        self._at_least += 1
        self._chats += max(1.0, typically)
        self._add_queries(run)

    def add_check(self, stage: Stage, case_id: str, miss: RecordingMiss) -> None:
        """A judged stage of an answer that is known, scored as far as `miss`."""
        if self._is_known(miss):
            return
        label = question_label(stage)
        self._judged_at_least += 1
        typically = self.typical.calls("judge", label, case_id) - miss.call.chats_before
        self._judged[label] += max(1.0, typically)

    def add_open_check(self, stage: Stage, run: Run) -> None:
        """A stage of an answer that is not there yet: it is judged unless it turns out as one before."""
        label = question_label(stage)
        if not stage.scorer.judged or (label, run.key) in self._seen:
            return
        self._seen.add((label, run.key))
        self._judged_at_most[label] += max(1.0, self.typical.calls("judge", label, run.case.id))

    def estimates(self) -> Iterator[CallEstimate]:
        """By model: the embedder's, the agent's, the judge's; what is certain before what may be."""
        candidate = self.suite.candidates[self.cell.candidate]
        if (embedder := candidate.embedder) is not None:
            name, server = embedder.name, embedder.base_url
            for texts, at_most in ((self._texts, False), (self._queries_at_most, True)):
                if texts.calls:
                    yield self.typical.estimate_texts(
                        name, texts.calls, texts.characters, server, at_most=at_most
                    )
        asked = self.suite.system.model_asked(candidate.model)
        server = None if candidate.model is None else candidate.model.base_url
        for calls, least in ((self._chats, self._at_least), (self._chats_at_most, 0)):
            if calls:
                yield self.typical.estimate(asked, "agent", {"": calls}, server, at_least=least)
        judge = self.suite.judge_of(self.cell.candidate)
        for by_label, least in ((self._judged, self._judged_at_least), (self._judged_at_most, 0)):
            if by_label and judge is not None:
                yield self.typical.estimate(
                    judge.model.name, "judge", by_label, judge.model.base_url, at_least=least
                )

    def _is_known(self, miss: RecordingMiss) -> bool:
        known = miss.call.entry_id in self._seen
        self._seen.add(miss.call.entry_id)
        return known

    def _add_text(self, miss: RecordingMiss) -> None:
        self._texts.calls += 1
        self._texts.characters += miss.call.characters

    def _add_queries(self, run: Run) -> None:
        queries, characters = self.typical.queries(run.case.id)
        self._queries_at_most.calls += queries
        self._queries_at_most.characters += characters
