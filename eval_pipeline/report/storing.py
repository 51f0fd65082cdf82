"""Stores a stage report row by row, as it is made: a table, `report.json`, and `outcomes.json` for a gate."""

from __future__ import annotations

import contextlib
import json
import tempfile
from dataclasses import replace
from typing import Any

from eval_pipeline import windows
from eval_pipeline.cell_outcomes import OutcomesTally
from eval_pipeline.content_hash import ListHash, content_hash
from eval_pipeline.errors import EvalError
from eval_pipeline.gating.own_outcomes import line_of, outcomes_begin, outcomes_end
from eval_pipeline.report.case_reports import CaseReport
from eval_pipeline.report.json_form import json_begin, json_end, json_row, plain_row, plain_summary
from eval_pipeline.report.key import report_key
from eval_pipeline.report.rows import rows_table, stored_row
from eval_pipeline.report.stage_report import StageReport
from eval_pipeline.suites import Cell, Suite
from eval_pipeline.warehouse.store import Keys, Warehouse

FILES = ("part.parquet", "report.json", "outcomes.json")
_INPUTS_FILE = "report_inputs.json"


def kept_version(warehouse: Warehouse, keys: Keys, inputs: str | None) -> str | None:
    """The version of the stored report if it was made of these inputs and all of it is there; else None."""
    try:
        kept: Any = json.loads(warehouse.read_text("stage_report", _INPUTS_FILE, **keys))
    except (EvalError, ValueError):
        return None
    if inputs is None or not isinstance(kept, dict) or kept.get("inputs") != inputs:
        return None
    sizes = {name: warehouse.size("stage_report", name, **keys) for name in FILES}
    return str(kept["version"]) if kept.get("sizes") == sizes else None


class ReportWriter(contextlib.ExitStack):
    """A report under way: a context manager, and nothing is stored when its block raises."""

    def __init__(self, warehouse: Warehouse, suite: Suite, cell: Cell) -> None:
        """Give it every row, and then the report."""
        super().__init__()
        self._warehouse = warehouse
        self._suite = suite
        self._cell = cell
        self._keys: Keys = {"suite": cell.suite, "candidate": cell.candidate, "dataset": cell.dataset}
        self._outcomes = OutcomesTally(suite, cell)
        self._rows: list[dict[str, Any]] = []
        self._contents = ListHash()
        self._comma = ""
        self._test_comma = ""

    def __enter__(self) -> ReportWriter:
        """Begin all files."""
        # What it is made of is said last: until then, whatever stands there is no whole report.
        self._warehouse.write_text("stage_report", _INPUTS_FILE, "null\n", **self._keys)
        writing, keys = self._warehouse.writing_text, self._keys
        self._table = self.enter_context(self._warehouse.writing("stage_report", **keys))
        self._json = self.enter_context(writing("stage_report", "report.json", **keys))
        self._tests = self.enter_context(tempfile.TemporaryFile("w+", encoding="utf-8", newline=""))
        self._json(json_begin(self._cell, report_key(self._suite, self._cell), self._suite.stages))
        return self

    def add(self, row: CaseReport) -> None:
        """The next row."""
        data = plain_row(row, self._cell, self._suite.stages)
        self._rows.append(stored_row(data))
        if len(self._rows) == windows.SIZE:
            self._write_rows()
        self._json(self._comma + json_row(data))
        self._comma = ","
        for test in self._outcomes.add(row):
            self._tests.write(self._test_comma + line_of(test))
            self._test_comma = ","

    def finish(self, report: StageReport) -> str:
        """Write what all rows add up to; gives the hash of what the report says."""
        self._write_rows(last=True)
        self._json(json_end(report))
        outcomes = self._outcomes.head(report)
        self._write_outcomes(outcomes_begin(outcomes), outcomes_end(any_tests=bool(self._test_comma)))
        # A corrected price list is no other content.
        unpriced = replace(report, summary=replace(report.summary, cost=None))
        said = [report.key, plain_summary(unpriced), self._contents.hexdigest()]
        return content_hash([said, outcomes.eval.model_dump(mode="json")])

    def _write_rows(self, *, last: bool = False) -> None:
        if self._rows or last:
            self._contents.add([row["row"] for row in self._rows])
            self._table.write(rows_table(self._rows))
            self._rows = []

    def _write_outcomes(self, begin: str, end: str) -> None:
        self._tests.seek(0)
        with self._warehouse.writing_text("stage_report", "outcomes.json", **self._keys) as write:
            write(begin)
            while part := self._tests.read(1 << 20):
                write(part)
            write(end)


def note_inputs(warehouse: Warehouse, keys: Keys, inputs: str | None, version: str) -> None:
    """Say what a report that is now stored was made of."""
    sizes = {name: warehouse.size("stage_report", name, **keys) for name in FILES}
    told = json.dumps({"inputs": inputs, "version": version, "sizes": sizes}) + "\n"
    warehouse.write_text("stage_report", _INPUTS_FILE, told, **keys)
