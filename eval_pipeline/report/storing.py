"""Stores a stage report part by part: a table, `report.json`, and `outcomes.json` for a gate."""

from __future__ import annotations

import contextlib
import hashlib
import tempfile
from dataclasses import replace

import pyarrow as pa

from eval_pipeline import windows
from eval_pipeline.cell_outcomes import outcomes_head
from eval_pipeline.content_hash import ListHash, content_hash
from eval_pipeline.gating.own_outcomes import outcomes_begin, outcomes_end
from eval_pipeline.report.json_form import json_begin, json_end, plain_summary
from eval_pipeline.report.kept_parts import (
    OUTCOMES_FILE,
    REPORT_FILE,
    StoredPart,
    StoredParts,
    TextSpan,
    forget_parts,
)
from eval_pipeline.report.key import report_key
from eval_pipeline.report.parts import Part, PartContent
from eval_pipeline.report.rows import rows_table
from eval_pipeline.report.stage_report import StageReport
from eval_pipeline.report.usage import UsageTally
from eval_pipeline.suites import Cell, Suite
from eval_pipeline.warehouse.store import Keys, Warehouse


class ReportWriter(contextlib.ExitStack):
    """A report under way: a context manager, and nothing is stored when its block raises."""

    def __init__(self, warehouse: Warehouse, suite: Suite, cell: Cell) -> None:
        """Give it every part, and then the report."""
        super().__init__()
        self._warehouse = warehouse
        self._suite = suite
        self._cell = cell
        self._keys: Keys = {"suite": cell.suite, "candidate": cell.candidate, "dataset": cell.dataset}
        self._parts: list[StoredPart] = []
        self._waiting: list[pa.Table] = []
        """Rows that are written once they fill a window."""
        self._contents = ListHash()
        self._rows = 0
        self._bytes = 0
        """Of `report.json`."""

    def __enter__(self) -> ReportWriter:
        """Begin all files."""
        forget_parts(self._warehouse, self._keys)
        warehouse, keys = self._warehouse, self._keys
        self._table = self.enter_context(warehouse.writing("stage_report", **keys))
        self._text = self.enter_context(warehouse.writing_text("stage_report", REPORT_FILE, **keys))
        self._tests = self.enter_context(tempfile.TemporaryFile())
        begin = json_begin(self._cell, report_key(self._suite, self._cell), self._suite.stages)
        self._bytes += self._text.write(begin)
        return self

    def add(self, part: Part, content: PartContent) -> None:
        """The next part."""
        if self._rows:
            self._bytes += self._text.write(",")
        start = self._bytes
        self._bytes += self._text.write(content.report)
        said = content_hash(content.table["row"].to_pylist())
        tests = _encoded(content.tests)
        self._tests.write(tests)
        self._parts.append(
            StoredPart(
                inputs=part.inputs,
                first_row=self._rows,
                rows=content.table.num_rows,
                content=said,
                report=_span(start, _encoded(content.report)),
                tests=_span(0, tests),  # where they stand is known at the end
                tally=content.tally,
            )
        )
        self._contents.add([said])
        self._rows += content.table.num_rows
        self._waiting.append(content.table)
        self._write_rows(windows.SIZE)

    def finish(self, report: StageReport, usage: UsageTally, inputs: str | None) -> StoredParts:
        """Write what all rows add up to; gives what there is to note once all files are in place."""
        self._write_rows(1)
        if not self._rows:
            self._table.write(rows_table([]))
        self._text.write(json_end(report))
        outcomes = outcomes_head(self._suite, report, usage)
        parts, outcomes_sha = self._write_outcomes(outcomes_begin(outcomes))
        # A corrected price list is no other content.
        unpriced = replace(report, summary=replace(report.summary, cost=None))
        said = [report.key, plain_summary(unpriced), self._contents.hexdigest()]
        version = content_hash([said, outcomes.eval.model_dump(mode="json")])
        return StoredParts(inputs, version, {REPORT_FILE: self._text.sha, OUTCOMES_FILE: outcomes_sha}, parts)

    def _write_rows(self, least: int) -> None:
        """Write the rows that wait, as far as they fill so many."""
        waiting = sum(table.num_rows for table in self._waiting)
        if waiting >= least:
            table = pa.concat_tables(self._waiting)
            self._table.write(table.slice(0, windows.SIZE))
            self._waiting = [table.slice(windows.SIZE)]

    def _write_outcomes(self, begin: str) -> tuple[list[StoredPart], str]:
        """Write the file of outcomes; gives the parts with the places of their tests, and its hash."""
        self._tests.seek(0)
        parts: list[StoredPart] = []
        with self._warehouse.writing_text("stage_report", OUTCOMES_FILE, **self._keys) as file:
            place = file.write(begin)
            comma = ""
            for part in self._parts:
                text = self._tests.read(part.tests.length)
                if text:
                    place += file.write(comma)
                    comma = ","
                parts.append(replace(part, tests=replace(part.tests, start=place)))
                place += file.write(text.decode())
            file.write(outcomes_end(any_tests=bool(comma)))
        return parts, file.sha


def _span(start: int, text: bytes) -> TextSpan:
    return TextSpan(start, len(text), hashlib.sha256(text).hexdigest())


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "backslashreplace")
