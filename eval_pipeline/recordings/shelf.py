"""What is recorded of one model, in memory, with the journal that new calls go to."""

from __future__ import annotations

from collections.abc import Collection, MutableMapping
from pathlib import Path

from eval_pipeline.errors import RecordingFileError
from eval_pipeline.recordings.entry import Entry
from eval_pipeline.recordings.explaining import AskedIndex
from eval_pipeline.recordings.folding import fold, settle, with_cases
from eval_pipeline.recordings.journal import Journal, refuse_unwritable
from eval_pipeline.recordings.layout import FOLDED, journals
from eval_pipeline.recordings.line_index import LineIndex, index_lines
from eval_pipeline.recordings.lines import FolderReader
from eval_pipeline.recordings.parsing import BrokenLine, parse_line
from eval_pipeline.recordings.request import Role


class Shelf:
    """The entries of one model's folder.

    They are kept as the lines they are stored as, a quarter of their size as objects, and parsed
    when asked for, so that no caller can change what the next one gets. Of large files only the
    lines asked for are read.
    """

    def __init__(self, folder: Path) -> None:
        """Read `folder`, which need not exist.

        Raises:
            RecordingFileError: when any line of its files is no entry.
        """
        self.folder = folder
        self._read()
        self._journal: Journal | None = None
        self._cases: dict[str, set[str]] = {}
        self._replacing: set[str] = set()
        self._index: AskedIndex | None = None

    def _read(self) -> None:
        index = index_lines(self.folder)
        self.lines: MutableMapping[str, bytes]
        self.model: str | None
        self.roles: set[Role]
        if index is not None:
            (self.model,) = index.models
            self.lines, self.roles = index, index.roles
            return
        reader = FolderReader(self.folder)
        self.lines = read_lines(reader)
        self.model, self.roles = reader.model, reader.roles

    def refuse_other(self, model: str) -> None:
        """Make sure that this can be the shelf of `model`.

        Raises:
            RecordingFileError: when it is another model's, whose name gives the same folder.
        """
        if self.model not in (None, model):
            raise RecordingFileError(
                f"{self.folder}: holds recordings of {self.model!r}, and {model!r} would share that folder; "
                "rename one of the models"
            )

    def refuse_unwritable(self) -> None:
        """Make sure that a call can be recorded, before it is made and paid for.

        Raises:
            RecordingFileError: when its journal can't be created.
        """
        if self._journal is None:
            refuse_unwritable(self.folder)

    def get(self, entry_id: str) -> Entry | None:
        """The entry `entry_id`, if it is recorded.

        Raises:
            RecordingFileError: when its line, which was not read before, is no entry.
        """
        line = self.lines.get(entry_id)
        try:
            return None if line is None else parse_line(line)
        except BrokenLine:
            read_lines(FolderReader(self.folder))  # says which line of which file it is
            raise

    def add(self, entry: Entry) -> Entry:
        """Record `entry`, on disk first, and read it back; it takes the place of a failure with its id.

        Raises:
            TypeError: when its response can't be stored as JSON; nothing was written then.
            EvalError: when the journal can't be written.
        """
        try:
            line = entry.line()
            stored = parse_line(line)  # before it is written: a line that can't be read back would be a trap
        except (TypeError, ValueError) as error:
            raise TypeError(
                f"a response of {entry.model} can't be recorded ({error}); it must be an object of plain JSON"
            ) from error
        if self._journal is None:
            self._journal = Journal(self.folder)
        self._journal.append(line)
        if entry.id in self.lines:
            self._replacing.add(entry.id)
        self.model = entry.model
        self.lines[entry.id] = line
        self.roles.add(entry.role)
        self._index = None
        return stored

    def add_case(self, entry_id: str, case_id: str) -> None:
        """Note that `case_id` asked an entry too; stored when the shelf is folded."""
        _, self.lines[entry_id] = with_cases(self.lines[entry_id], [case_id])
        self._cases.setdefault(entry_id, set()).add(case_id)

    def index(self) -> AskedIndex:
        """What was asked, for explaining a miss."""
        if self._index is None:
            self._index = AskedIndex(map(parse_line, self.lines.values()))
        return self._index

    def fold(self, used: Collection[str]) -> set[str]:
        """Fold what is new, and journals left behind, into the sorted files.

        Returns:
            The ids among `used` that another process folded first, with another response; that
            one is the recorded response from now on.

        Raises:
            RecordingFileError: when a file of the folder can't be read.
            EvalError: when one can't be written. Either way the new calls stay in the journal.
        """
        if self._journal is None and not self._cases and not journals(self.folder):
            return set()
        own, self._journal = self._journal, None
        try:
            folded = fold(
                self.folder,
                own=own.path if own else None,
                cases=self._cases,
                replacing=self._replacing,
                asked=used,
            ).lines
        finally:
            if own:
                own.close()
        lost = {key for key in folded.keys() & used if _answers_differ(self.lines[key], folded[key])}
        if isinstance(self.lines, LineIndex):
            self.lines = {}  # let go of, before there is another one
            self._read()  # the files were replaced
        else:
            self.lines.update(folded)
        self._cases.clear()
        self._replacing.clear()
        self._index = None
        return lost


def read_lines(reader: FolderReader) -> dict[str, bytes]:
    """The line of every entry in a model's folder, by id, with what is still in journals.

    Raises:
        RecordingFileError: when any line is no entry.
    """
    # Journals first: a fold in between moves their lines to the files that are read after them.
    journaled = [found for journal in journals(reader.folder) for found in reader.read(journal)]
    lines = {entry.id: line for name in FOLDED.values() for entry, line in reader.read(reader.folder / name)}
    for entry, line in journaled:
        before = lines.get(entry.id)
        if before is None:
            lines[entry.id] = line
        else:
            _, lines[entry.id] = settle(before, entry, line, asked_again=entry.failure is None)
    return lines


def _answers_differ(mine: bytes, folded: bytes) -> bool:
    return mine != folded and parse_line(mine).response != parse_line(folded).response
