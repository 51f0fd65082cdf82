"""What a suite has recorded of all its models, behind one lock."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterator
from functools import cached_property
from pathlib import Path
from typing import NoReturn

from eval_pipeline.errors import MissedCall, RecordingMiss
from eval_pipeline.recordings.asking import Asking
from eval_pipeline.recordings.calls import Response
from eval_pipeline.recordings.digests import digest_of
from eval_pipeline.recordings.entry import Entry, describe_call
from eval_pipeline.recordings.explaining import AskedIndex, Explained, explain_miss
from eval_pipeline.recordings.folding import fold
from eval_pipeline.recordings.layout import journals, model_folders, slug
from eval_pipeline.recordings.request import InUse, Role
from eval_pipeline.recordings.shelf import Shelf


class Library:
    """One shelf a model under `folder`, each read when it is first needed."""

    def __init__(
        self,
        folder: Path,
        *,
        writes: bool,
        retry_errors: bool,
        in_use: InUse | None = None,
        before: Callable[[], Collection[str]] | None = None,
    ) -> None:
        self.folder = folder
        self._in_use = in_use or {}
        self._look_before = before or frozenset
        self.writes = writes
        self.lock = threading.RLock()
        self._retry_errors = retry_errors
        self._recorded_here: set[str] = set()
        self._shelves: dict[str, Shelf] = {}

    def find(self, asked: Asking) -> Entry | None:
        """The entry that answers, unless it is a failure to be asked again.

        Raises:
            RecordingFileError: when the model's files can't be read, or its folder is another's.
        """
        with self.lock:
            entry = self._shelf(asked.request.model).get(asked.id)
            if entry is None or asked.id in self._recorded_here:
                return entry
            return None if self._retry_errors and entry.failure else entry

    def record(self, asked: Asking, response: Response, latency_ms: float) -> Entry:
        """Store a response just received, and give it back as replay will.

        Raises:
            TypeError: when the response is no plain JSON.
            EvalError: when it can't be written.
        """
        with self.lock:
            entry = self.find(asked)
            if entry is None:  # else someone who couldn't wait for a call under way was faster
                entry = describe_call(asked.request, asked.asker, asked.id, response, latency_ms)
                entry = self._shelf(entry.model).add(entry)
                self._recorded_here.add(entry.id)
            return entry

    def refuse_unwritable(self, model: str) -> None:
        """Make sure that a call to `model` can be recorded.

        Raises:
            RecordingFileError: when nothing can be written where it would be.
        """
        with self.lock:
            self._shelf(model).refuse_unwritable()

    def note_case(self, entry: Entry, case_id: str) -> None:
        """Where recordings are written, note that `case_id` asked `entry` too."""
        if self.writes and case_id not in entry.cases:
            with self.lock:
                self._shelf(entry.model).add_case(entry.id, case_id)

    def raise_miss(self, asked: Asking) -> NoReturn:
        """Say that nothing answers; a run that missed before hears of its first miss again.

        Raises:
            RecordingMiss: always.
        """
        asker, request = asked.asker, asked.request
        with self.lock:
            if not asker.misses:
                why, like = self._explain(asked)
                call = MissedCall(
                    asked.id,
                    request.kind,
                    asker.label,
                    len(request.words),
                    len(asker.costs),
                    like and (like.model, like.labels.get("prompt", "")),
                )
                miss = RecordingMiss(asker.case_id, asker.role, request.model, why, asker.own_repeat, call)
                asker.misses.append(miss)
        raise asker.misses[0].with_traceback(None)

    def has_recorded(self, model: str, role: Role) -> bool:
        """Whether anything is recorded of `model` in that role."""
        with self.lock:
            return role in self._shelf(model).roles

    def digest(self, entry_id: str) -> str:
        """The digest of an entry that has answered.

        Raises:
            KeyError: when none of that id was read or recorded.
        """
        with self.lock:
            for shelf in self._shelves.values():
                if (line := shelf.lines.get(entry_id)) is not None:
                    return digest_of(line)
        raise KeyError(entry_id)

    def fold(self, used: Collection[str]) -> frozenset[str]:
        """Fold every shelf, and journals left behind anywhere under `folder`.

        Returns:
            The ids among `used` that another process folded first, with another response.

        Raises:
            RecordingFileError: when a file can't be read.
            EvalError: when a file can't be written.
        """
        with self.lock:
            lost = [shelf.fold(used) for shelf in self._shelves.values()]
            for folder in model_folders(self.folder):
                if folder.name not in self._shelves and journals(folder):
                    fold(folder)
            return frozenset().union(*lost)

    def _shelf(self, model: str) -> Shelf:
        shelf = self._open(slug(model))
        shelf.refuse_other(model)
        return shelf

    def _open(self, name: str) -> Shelf:
        if name not in self._shelves:
            self._shelves[name] = Shelf(self.folder / name)
        return self._shelves[name]

    def _explain(self, asked: Asking) -> Explained:
        own = self._shelf(asked.request.model)
        recorded = own.get(asked.id)
        if recorded is not None and recorded.failure is not None:
            return Explained(
                f"recorded as a failure, and failures are to be asked again ({recorded.failure})"
            )
        in_use = self._in_use.get(asked.asker.role, ())
        return explain_miss(asked, own.index(), self._other_indexes(own), in_use, self._before)

    @cached_property
    def _before(self) -> Collection[str]:
        """What changed parts were before, looked up when the first miss is explained."""
        return self._look_before()

    def _other_indexes(self, own: Shelf) -> Iterator[AskedIndex]:
        for folder in model_folders(self.folder):
            if folder != own.folder:
                yield self._open(folder.name).index()
