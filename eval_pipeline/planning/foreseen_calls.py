"""The calls that a run of one cell will make, as far as what misses on replay tells."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from eval_pipeline.carry_over.reads import RunKey
from eval_pipeline.cases import Run
from eval_pipeline.errors import RecordingMiss
from eval_pipeline.planning.planned_rows import PlannedAbove
from eval_pipeline.planning.typical_calls import CallEstimate, Chats, Typical, TypicalCalls
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
    above: PlannedAbove
    """What the cells planned before this one ask is asked by the time that it runs."""
    pages: tuple[str, ...] = ()
    """What the pages will be recorded under that are embedded before anything of this cell can run."""
    waits_for_others: bool = False
    """Whether a cell planned before this one asks what it waits for."""
    _own_questions: set[str] = field(default_factory=set)
    _judged_runs: set[tuple[str, RunKey]] = field(default_factory=set)
    _at_least: int = 0
    _chats: Chats = field(default_factory=Chats)
    _chats_at_most: Chats = field(default_factory=Chats)
    _texts: _Texts = field(default_factory=_Texts)
    _queries_at_most: _Texts = field(default_factory=_Texts)
    _judged: Chats = field(default_factory=Chats)
    _judged_at_least: int = 0
    _judged_at_most: Chats = field(default_factory=Chats)

    def add_pages(self, misses: Sequence[RecordingMiss], runs: Sequence[Run]) -> None:
        """Pages that have to be embedded before the system can be built for these runs."""
        pages = {miss.call.entry_id: miss for miss in misses}
        self.pages = tuple(self.above.new_questions(pages))
        for entry_id in self.pages:
            self._add_text(pages[entry_id])
        # An edited page is embedded by an embedder that knows the searches already.
        new_embedder = any(not miss.why.startswith(_PAGE_CHANGED) for miss in misses)
        for run in runs:
            typical = self._typical_run(run)
            self._chats_at_most.add(typical.calls, typical)
            if new_embedder:
                self._add_queries(run)

    def add_run(self, run: Run, miss: RecordingMiss) -> bool:
        """A run of the system that gets as far as `miss`; whether it is the one that asks this."""
        typical = self._typical_run(run, miss)
        more = typical.calls - miss.call.chats_before
        if self._is_known(miss):
            # What it asks once the other one has its answer may be the same again.
            self._chats_at_most.add(max(0.0, more - (miss.call.kind == "chat")), typical)
            self._add_queries(run)
            return False
        if miss.call.kind == "embed":
            self._add_text(miss)
            self._chats_at_most.add(max(0.0, more), typical)
            return True
        self._at_least += 1
        self._chats.add(max(1.0, more), typical)
        self._add_queries(run)
        return True

    def add_check(self, stage: Stage, run: RunKey, miss: RecordingMiss) -> bool:
        """A judged stage of an answer that is known, scored as far as `miss`; whether it asks this itself."""
        label = question_label(stage)
        typical = self.typical.chats("judge", label, run[0], miss.model, miss.call.like)
        more = typical.calls - miss.call.chats_before
        with_others = self._is_judged(label, run)
        if self._is_known(miss):
            if not with_others:
                self._judged_at_most.add(max(0.0, more - 1), typical)
            return False
        self._judged_at_least += 1
        self._judged.add(max(1.0, more), typical)
        return True

    def add_open_check(self, stage: Stage, run: Run) -> None:
        """A stage of an answer that is not there yet: it is judged unless it turns out as one before."""
        label, judge = question_label(stage), self.suite.judge_of(self.cell.candidate)
        if judge is None or not stage.scorer.judged or self._is_judged(label, run.key):
            return
        typical = self.typical.chats("judge", label, run.case.id, judge.model.name)
        self._judged_at_most.add(max(1.0, typical.calls), typical)

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
        server = None if candidate.model is None else candidate.model.base_url
        for chats, least in ((self._chats, self._at_least), (self._chats_at_most, 0)):
            if chats.calls:
                yield self.typical.estimate(self._asked, "agent", chats, server, at_least=least)
        judge = self.suite.judge_of(self.cell.candidate)
        for chats, least in ((self._judged, self._judged_at_least), (self._judged_at_most, 0)):
            if chats.calls and judge is not None:
                name, server = judge.model.name, judge.model.base_url
                yield self.typical.estimate(name, "judge", chats, server, at_least=least)

    @property
    def _asked(self) -> str:
        """Under which name the agent's calls are recorded."""
        return self.suite.system.model_asked(self.suite.candidates[self.cell.candidate].model)

    def _typical_run(self, run: Run, miss: RecordingMiss | None = None) -> Typical:
        like = None if miss is None else miss.call.like
        return self.typical.chats("agent", "", run.case.id, self._asked, like)

    def _is_known(self, miss: RecordingMiss) -> bool:
        entry_id = miss.call.entry_id
        known = not self.above.new_questions([entry_id])
        self.waits_for_others |= known and entry_id not in self._own_questions
        self._own_questions.add(entry_id)
        return known

    def _is_judged(self, label: str, run: RunKey) -> bool:
        """Whether another stage asks the judge the same of a run; from now on this one does."""
        known = (label, run) in self._judged_runs
        self._judged_runs.add((label, run))
        return known

    def _add_text(self, miss: RecordingMiss) -> None:
        self._texts.calls += 1
        self._texts.characters += miss.call.characters

    def _add_queries(self, run: Run) -> None:
        queries, characters = self.typical.queries(run.case.id)
        self._queries_at_most.calls += queries
        self._queries_at_most.characters += characters
