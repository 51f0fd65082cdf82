"""A report in parts of some hundred rows: what each follows from, and what it says.

A part that follows from the same as one stored before says the same, and is taken over as it stands there:
of ten thousand cases, an edited one makes one part anew. Parts end where the id of a case says so, so that
a case that is added or removed leaves all but its own part as they were.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import pyarrow as pa

from eval_pipeline import windows
from eval_pipeline.cell_outcomes import row_outcomes
from eval_pipeline.content_hash import content_hash
from eval_pipeline.datasets import Dataset
from eval_pipeline.fingerprints import report_code
from eval_pipeline.gating.own_outcomes import line_of
from eval_pipeline.report.case_reports import CaseReport
from eval_pipeline.report.json_form import json_row, plain_row
from eval_pipeline.report.key import describe_stage
from eval_pipeline.report.rows import rows_table, stored_row
from eval_pipeline.report.stored_rows import StoredRows
from eval_pipeline.report.summing_up import ReportTally, sum_up
from eval_pipeline.report.usage import UsageTally
from eval_pipeline.suites import Cell, Suite
from eval_pipeline.warehouse.stored_text import plain

MEAN_RUNS = 250
"""Runs of a part, more or less; no more than a window."""


@dataclass
class PartTally:
    """What the rows of a part add up to."""

    report: ReportTally = field(default_factory=ReportTally)
    usage: UsageTally = field(default_factory=UsageTally)

    def merge(self, other: PartTally) -> None:
        """The part after these."""
        self.report.merge(other.report)
        self.usage.merge(other.usage)

    def shorten(self) -> None:
        """Hold all numbers as short as they can be."""
        self.report.shorten()
        self.usage.shorten()


@dataclass(frozen=True)
class PartContent:
    """What a part says."""

    report: str
    """Its rows as they stand in `report.json`."""
    tests: str
    """Its tests as they stand in `outcomes.json`."""
    table: pa.Table
    """Its rows of the `stage_report` table."""
    tally: PartTally


@dataclass(frozen=True)
class Part:
    """Some runs of a cell, all repeats of each case."""

    places: range
    """Among the runs of the dataset."""
    inputs: str | None
    """Hash of all that its rows follow from; None where that cannot be told."""


def parts_of(suite: Suite, cell: Cell, rows: StoredRows) -> Iterator[Part]:
    """The parts of a cell's report, in their order."""
    dataset = suite.datasets[cell.dataset]
    code = report_code()
    stages = [[describe_stage(stage), stage.scorer.judged] for stage in suite.stages]
    declared = content_hash(plain([suite.name, dataset.repeats, stages, code]))
    for cases in _case_ranges(dataset):
        places = range(cases.start * dataset.repeats, cases.stop * dataset.repeats)
        stored = rows.content(places)
        shas = [sha.hex() for sha in dataset.case_shas[cases.start : cases.stop]]
        known = code is not None and stored is not None
        yield Part(places, content_hash([declared, shas, stored]) if known else None)


def make_part(suite: Suite, cell: Cell, rows: Sequence[CaseReport]) -> PartContent:
    """What a part says, from its rows."""
    data = [plain_row(row, cell, suite.stages) for row in rows]
    return PartContent(
        report=",".join(map(json_row, data)),
        tests=",".join(line_of(test) for row in rows for test in row_outcomes(suite, row)),
        table=rows_table([stored_row(row) for row in data]),
        tally=tally_of(rows),
    )


def tally_of(rows: Sequence[CaseReport]) -> PartTally:
    """What the rows of a part add up to."""
    tally = PartTally(sum_up(rows), UsageTally())
    for row in rows:
        tally.usage.add(row)
    tally.shorten()
    return tally


def _case_ranges(dataset: Dataset) -> Iterator[range]:
    """The places of each part's cases."""
    most = max(1, windows.SIZE // dataset.repeats)
    mean = max(1, MEAN_RUNS // dataset.repeats)
    start = 0
    for place, case_id in enumerate(dataset.places, start=1):
        if place - start == most or zlib.crc32(case_id.encode()) % mean == 0:
            yield range(start, place)
            start = place
    if start < len(dataset.cases):
        yield range(start, len(dataset.cases))
