"""The parts of reports that are stored, beside what each followed from."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from pydantic import TypeAdapter

from eval_pipeline.carry_over.stored_rows import partitions_to_search
from eval_pipeline.content_hash import content_hash
from eval_pipeline.errors import EvalError
from eval_pipeline.recordings.credentials import secrets_in
from eval_pipeline.report.parts import Part, PartContent, PartTally
from eval_pipeline.warehouse.store import Keys, Warehouse
from eval_pipeline.warehouse.table_reader import TableReader

TABLE_FILE = "part.parquet"
REPORT_FILE = "report.json"
OUTCOMES_FILE = "outcomes.json"
PARTS_FILE = "report_parts.json"
_MOST_PARTITIONS = 5
"""Reports that are looked through: the cell's own, then the ones stored last."""
_LINES_BYTES = 1_000_000
"""Of text that is looked through for secrets at once."""


@dataclass(frozen=True)
class TextSpan:
    """Where a text stands in a file."""

    start: int
    """Bytes before it."""
    length: int
    """Bytes."""
    sha: str


@dataclass(frozen=True)
class StoredPart:
    """Where a part stands in the files of a report."""

    inputs: str | None
    first_row: int
    rows: int
    content: str
    """Hash of its rows in the table."""
    report: TextSpan
    tests: TextSpan
    tally: PartTally


@dataclass(frozen=True)
class StoredParts:
    """The file of a report's parts: written last, so that it tells of no report that is not all there."""

    inputs: str | None
    """Hash of all that the report followed from."""
    version: str
    """Hash of what it says."""
    files: Mapping[str, str]
    """Hash of each of its files, as it was written."""
    parts: list[StoredPart] = field(default_factory=list)


_FILE = TypeAdapter(StoredParts)


class KeptReport:
    """A stored report; of one that is not there, or not whole, nothing is kept."""

    def __init__(self, warehouse: Warehouse, keys: Keys) -> None:
        """Nothing is read yet."""
        self._warehouse = warehouse
        self._keys = keys

    @cached_property
    def _stored(self) -> StoredParts | None:
        try:
            return _FILE.validate_json(self._warehouse.read_text("stage_report", PARTS_FILE, **self._keys))
        except (EvalError, ValueError):
            return None

    @cached_property
    def _table(self) -> TableReader:
        return self._warehouse.open("stage_report", **self._keys)

    @cached_property
    def _by_inputs(self) -> Mapping[str, StoredPart]:
        parts = [] if self._stored is None else self._stored.parts
        return {part.inputs: part for part in parts if part.inputs is not None}

    def version(self, inputs: str | None) -> str | None:
        """Its version if it followed from these inputs and all of its files are as written; else None.

        One that shows what is a secret by now is never as it would be written.
        """
        stored = self._stored
        if stored is None or inputs is None or stored.inputs != inputs or not self._is_whole(stored):
            return None
        return stored.version

    def tally(self, part: Part) -> PartTally | None:
        """What a part's rows add up to, if it is kept."""
        found = self._by_inputs.get(part.inputs or "")
        return None if found is None else found.tally

    def content(self, part: Part) -> PartContent | None:
        """What a part says, if it is kept and still stands there just as it was written."""
        found = self._by_inputs.get(part.inputs or "")
        if found is None or found.rows != len(part.places):
            return None
        try:
            table = self._table.slice(found.first_row, found.rows)
            report, tests = self._text(REPORT_FILE, found.report), self._text(OUTCOMES_FILE, found.tests)
        except (EvalError, OSError, ValueError):
            return None
        if report is None or tests is None or content_hash(table["row"].to_pylist()) != found.content:
            return None
        return PartContent(report, tests, table, found.tally)

    def _is_whole(self, stored: StoredParts) -> bool:
        digest, keys = self._warehouse.digest, self._keys
        whole = all(digest("stage_report", name, **keys) == sha for name, sha in stored.files.items())
        return whole and not secrets_in(self._lines())

    def _lines(self) -> Iterator[bytes]:
        """Some lines of its text at a time."""
        with self._warehouse.reading("stage_report", REPORT_FILE, **self._keys) as file:
            yield from iter(lambda: b"".join(file.readlines(_LINES_BYTES)), b"")

    def _text(self, name: str, span: TextSpan) -> str | None:
        with self._warehouse.reading("stage_report", name, **self._keys) as file:
            file.seek(span.start)
            text = file.read(span.length)
        return text.decode() if hashlib.sha256(text).hexdigest() == span.sha else None


class KeptParts:
    """The parts of a cell's own stored report and of those stored last."""

    def __init__(self, warehouse: Warehouse, own: Keys) -> None:
        """Each report is read when it is first looked through."""
        self.own = KeptReport(warehouse, own)
        self._others = (
            KeptReport(warehouse, keys)
            for keys in partitions_to_search(warehouse, "stage_report", own, _MOST_PARTITIONS)
            if keys != own
        )
        self._open = [self.own]

    def content(self, part: Part) -> PartContent | None:
        """What a part says, if it is kept anywhere."""
        if part.inputs is None:
            return None
        return next(filter(None, (report.content(part) for report in self._reports())), None)

    def _reports(self) -> Iterator[KeptReport]:
        yield from self._open
        for report in self._others:
            self._open.append(report)
            yield report


def note_parts(warehouse: Warehouse, keys: Keys, stored: StoredParts) -> None:
    """Say what parts a report has, now that its files are in place."""
    table = warehouse.digest("stage_report", TABLE_FILE, **keys)
    stored = replace(stored, files={**stored.files, TABLE_FILE: table or ""})
    warehouse.write_text("stage_report", PARTS_FILE, _FILE.dump_json(stored).decode() + "\n", **keys)


def forget_parts(warehouse: Warehouse, keys: Keys) -> None:
    """Say that no report is there, before one is written."""
    warehouse.write_text("stage_report", PARTS_FILE, "null\n", **keys)
