"""Answers a question to a model from its recording, or asks the model and records the answer."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Iterable
from contextlib import nullcontext
from pathlib import Path
from typing import NoReturn, get_args

from eval_pipeline.errors import InputError
from eval_pipeline.recordings.asking import Asking, asking
from eval_pipeline.recordings.calls import Response, make_call, make_call_sync
from eval_pipeline.recordings.entry import Entry
from eval_pipeline.recordings.flights import Flight, Flights
from eval_pipeline.recordings.library import Library
from eval_pipeline.recordings.request import InUse, Mode, Request, Role


class Recordings:
    """The recordings of a suite, and the one place where its models are asked.

    Modes: `none` only replays, and writes nothing; `new_episodes` asks for what is missing. `all`
    is to ask for everything again, and is the same here: whoever wants it points `folder` at a
    fresh folder, and what this process has asked already is reused.

    Safe to use from several threads and event loops, and by several processes at once.
    """

    def __init__(
        self,
        folder: Path,
        mode: Mode = "none",
        *,
        retry_errors: bool = False,
        in_use: InUse | None = None,
        before: Callable[[], Collection[str]] | None = None,
    ) -> None:
        """Nothing is read before the first ask of a model, and nothing created before its first call.

        Args:
            folder: The suite's recordings, with one folder a model.
            mode: What to do about what isn't recorded.
            retry_errors: Whether recorded failures count as not recorded.
            in_use: What somebody asks with now: what is missing is not told to have changed from that.
            before: Gives 12 hash digits of parts, such as a prompt, that whoever asks had before; called when
                something is missing.

        Raises:
            InputError: for a mode there isn't.
        """
        if mode not in get_args(Mode):
            raise InputError(f"unknown recording mode {mode!r}; use one of {', '.join(get_args(Mode))}")
        self.mode: Mode = mode
        self.used: set[str] = set()
        """Every entry id that answered something since construction."""
        self.asked: set[str] = set()
        """Of these, the ones whose model was really asked."""
        self.shared: set[str] = set()
        """Of these, the ones that answered no single run of the system but what all of them use, such as
        the vectors of pages."""
        self._library = Library(
            Path(folder), writes=mode != "none", retry_errors=retry_errors, in_use=in_use, before=before
        )
        self._flights = Flights()

    async def ask(self, request: Request, live: Callable[[], Awaitable[Response]]) -> Response:
        """The recorded response to `request`, or that of `live`, which is on disk before it is returned.

        Raises:
            RecordingMiss: in mode `none` when nothing is recorded, and for whatever the same scope
                asks after that, so that a miss swallowed on the way can't pass for an answer.
            CallFailed: when the model answered nothing usable, now or when it was recorded.
            RecordingFileError: when the model's files can't be read.
            EvalError: when the call can't be written.
            TypeError: when the response of `live` is no plain JSON.
            Exception: whatever else `live` raised; such a call isn't recorded.
        """
        with asking(request) as asked:
            while isinstance(seen := self._look(asked), Flight):
                # Shielded, as who gives up waiting must not end the call for the others.
                if fault := await asyncio.shield(asyncio.wrap_future(seen)):
                    raise fault
            entry = seen
            if entry is None:
                with self._flights.landing(asked.id):
                    self.refuse_unwritable(request.model)
                    entry = self._library.record(asked, *await make_call(live))
        return self._answer(asked, entry, called=seen is None)

    def ask_sync(self, request: Request, live: Callable[[], Response]) -> Response:
        """As `ask`, for code that can't await; raises the same."""
        # The thread of an event loop can't wait for a call which that loop is making.
        waits = self._flights.joinable()
        with asking(request) as asked:
            while isinstance(seen := self._look(asked, join=waits), Flight):
                if fault := seen.result():
                    raise fault
            entry = seen
            if entry is None:
                with self._flights.landing(asked.id) if waits else nullcontext():
                    self.refuse_unwritable(request.model)
                    entry = self._library.record(asked, *make_call_sync(live))
        return self._answer(asked, entry, called=seen is None)

    def lookup(self, request: Request) -> Response | None:
        """The recorded response, which then counts as used, or None; for asking about a batch first.

        Raises:
            CallFailed: when a failure is recorded.
            RecordingFileError: when the model's files can't be read.
        """
        with asking(request) as asked:
            entry = self._library.find(asked)
            if entry is None:
                asked.withdraw()
                return None
        return self._answer(asked, entry)

    def refuse_unwritable(self, model: str) -> None:
        """Make sure that calls to `model` can be recorded; `ask` does so, who uses `keep` asks here first.

        Raises:
            RecordingFileError: when nothing can be written where they would be.
        """
        self._library.refuse_unwritable(model)

    def keep(self, request: Request, response: Response, *, latency_ms: float) -> Response:
        """Record one response of a batch asked live; gives back what replay will give.

        Raises:
            RecordingMiss: in mode `none`, which writes nothing.
            EvalError: when the call can't be written.
            TypeError: when the response is no plain JSON.
        """
        if self.mode == "none":
            self.miss(request)
        with asking(request) as asked:
            entry = self._library.record(asked, response, latency_ms)
        return self._answer(asked, entry, called=True)

    def miss(self, request: Request) -> NoReturn:
        """Say that nothing answers `request`, and what differs from the nearest recorded request.

        Raises:
            RecordingMiss: always; the first one of the scope, if it has missed before.
        """
        with asking(request) as asked:
            self._library.raise_miss(asked)

    def recorded(self, model: str, role: Role = "agent") -> bool:
        """Whether anything is recorded of `model` in that role.

        Raises:
            RecordingFileError: when the model's files can't be read.
        """
        return self._library.has_recorded(model, role)

    def digests(self, entry_ids: Iterable[str]) -> dict[str, str]:
        """The digest of each of these entries, which have answered, by id."""
        return {entry_id: self._library.digest(entry_id) for entry_id in entry_ids}

    def close(self) -> frozenset[str]:
        """Fold what was recorded into the sorted files; asking on is allowed.

        Returns:
            The ids, among those used, that another process folded first with another response.
            Theirs is the recorded one from now on: run the rows that used these ids again.

        Raises:
            RecordingFileError: when a file can't be read.
            EvalError: when a file can't be written. Either way the calls stay in the journal, and
                the next recording folds them.
        """
        return frozenset() if self.mode == "none" else self._library.fold(self.used)

    def _look(self, asked: Asking, *, join: bool = True) -> Entry | Flight | None:
        """What is recorded, or else the call under way for it, or else None: the caller makes it."""
        if asked.asker.misses:
            self._library.raise_miss(asked)
        with self._library.lock:
            entry = self._library.find(asked)
            if entry is not None:
                return entry
            if self.mode == "none":
                self._library.raise_miss(asked)
            return self._flights.join(asked.id) if join else None

    def _answer(self, asked: Asking, entry: Entry, *, called: bool = False) -> Response:
        asked.asker.note_tools(asked.request)
        costs = [entry.cost_at(asked.request.server)] if entry.kind == "chat" else []
        asked.asker.count_answer(
            entry.id, called=called, tokens=entry.tokens, latency_ms=entry.latency_ms, costs=costs
        )
        self.used.add(entry.id)
        if called:
            self.asked.add(entry.id)
        if asked.asker.role == "agent" and asked.asker.label:
            self.shared.add(entry.id)
        self._library.note_case(entry, asked.asker.case_id)
        if failure := entry.failure:
            raise failure
        return entry.response
