"""The rows of a stored report: made from traces and checks as they are asked for, a window at a time."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import Any, overload

from eval_pipeline import windows
from eval_pipeline.report.case_reports import CaseReport, report_case
from eval_pipeline.scores import CheckResult
from eval_pipeline.stored_runs import refuse_other_runs, refuse_stored, run_names
from eval_pipeline.suites import Cell, Suite
from eval_pipeline.warehouse.score_rows import checks_from
from eval_pipeline.warehouse.table_reader import TableReader
from eval_pipeline.warehouse.trace_rows import traces_from

_KEYS = ("case_id", "repeat")
_TRACE_COLUMNS = ("content_hash", "calls", "called", "latency_ms", "cost")
_CHECK_COLUMNS = ("content_hash", "calls", "called", "tokens", "cost")
"""All that a report shows of a row: its content, and what the calls took that made it."""


class StoredRows(Sequence[CaseReport]):
    """One row a case and repeat, in the dataset's order; just one window of them is held."""

    def __init__(self, suite: Suite, cell: Cell, traces: TableReader, checks: TableReader) -> None:
        """Look where each run's rows stand.

        Args:
            suite: declares the stages, in order, and the cell's cases.
            cell: the candidate and dataset.
            traces: its `traces` table.
            checks: its `stage_scores` table.

        Raises:
            NotStoredError: when a run has no trace, a trace no run, or an outcome no stage or trace: a report
                that left it out would count less than it says.
        """
        refuse_other_runs(suite, cell, lambda: traces.tuples(*_KEYS))
        self._suite = suite
        self._dataset = suite.datasets[cell.dataset]
        self._traces = traces
        self._checks = checks
        stages = {name for (name,) in checks.tuples("stage")} - {stage.name for stage in suite.stages}
        refuse_stored(cell, {"outcomes of no stage": sorted(stages)})
        self._trace_rows = self._find_traces()
        self._check_rows = self._find_checks(cell)
        self._window: tuple[int, list[CaseReport]] = (-1, [])

    def __len__(self) -> int:
        return self._traces.num_rows

    @overload
    def __getitem__(self, place: int) -> CaseReport: ...
    @overload
    def __getitem__(self, place: slice) -> list[CaseReport]: ...
    def __getitem__(self, place: int | slice) -> CaseReport | list[CaseReport]:
        """A row, or some of them."""
        if isinstance(place, slice):
            return [self[i] for i in range(*place.indices(len(self)))]
        if not -len(self) <= place < len(self):
            raise IndexError(place)
        number, rest = divmod(place % len(self), windows.SIZE)
        return self._rows(number)[rest]

    def __iter__(self) -> Iterator[CaseReport]:
        """All rows, each window read once."""
        for number in range(-(-len(self) // windows.SIZE)):
            yield from self._rows(number)

    def at(self, places: Sequence[int]) -> list[CaseReport]:
        """The rows at these places, and no others read."""
        return [row for some in windows.windows(places) for row in self._read(some)]

    def content(self, places: Sequence[int]) -> list[list[Any]] | None:
        """All that the rows at these places show of traces and checks, as columns of plain values.

        None where a version stored them that did not tell.
        """
        traces = self._traces.take([self._trace_rows[place] for place in places], _TRACE_COLUMNS)
        checks = self._checks.take(
            [row for place in places for row in self._check_rows[place]], _CHECK_COLUMNS
        )
        told = not traces["content_hash"].null_count and (
            checks["content_hash"].null_count < checks.num_rows or not checks.num_rows
        )
        return [column.to_pylist() for column in (*traces.columns, *checks.columns)] if told else None

    def _rows(self, number: int) -> list[CaseReport]:
        """The rows of one window."""
        if self._window[0] != number:
            self._window = (-1, [])
            start = number * windows.SIZE
            self._window = (number, self._read(range(start, min(start + windows.SIZE, len(self)))))
        return self._window[1]

    def _read(self, places: Sequence[int]) -> list[CaseReport]:
        traces = traces_from(self._traces.take([self._trace_rows[place] for place in places]))
        found = self._checks.take([row for place in places for row in self._check_rows[place]])
        checks: dict[tuple[str, int], list[CheckResult]] = {}
        for check in checks_from(found):
            checks.setdefault((check.case_id, check.repeat), []).append(check)
        stages, repeats = self._suite.stages, self._dataset.repeats
        cases = self._dataset.cases_at(place // repeats for place in places)
        return [
            report_case(cases[place // repeats], trace, checks.get((trace.case_id, trace.repeat), []), stages)
            for place, trace in zip(places, traces, strict=True)
        ]

    def _find_traces(self) -> Sequence[int]:
        """The row of each run's trace."""
        places = zip_longest(self._dataset.run_keys, self._traces.tuples(*_KEYS))
        if all(run == key for run, key in places):
            return range(len(self))
        rows = {key: row for row, key in enumerate(self._traces.tuples(*_KEYS))}
        return array("l", [rows[run] for run in self._dataset.run_keys])

    def _find_checks(self, cell: Cell) -> Sequence[Sequence[int]]:
        """The rows of each run's checks."""
        ends = array("l", [0])
        runs = iter(self._dataset.run_keys)
        run = next(runs, None)
        for row, key in enumerate(self._checks.tuples(*_KEYS)):
            while run is not None and run != key:
                ends.append(row)
                run = next(runs, None)
            if run is None:
                return self._find_scattered_checks(cell)
        ends.extend([self._checks.num_rows] * (len(self) + 1 - len(ends)))
        return _Ranges(ends)

    def _find_scattered_checks(self, cell: Cell) -> Sequence[Sequence[int]]:
        """The same of checks that stand in another order than the runs."""
        found: dict[tuple[str, int], list[int]] = {run: [] for run in self._dataset.run_keys}
        surplus: set[tuple[str, int]] = set()
        for row, key in enumerate(self._checks.tuples(*_KEYS)):
            found[key].append(row) if key in found else surplus.add(key)
        refuse_stored(cell, {"outcomes of no trace": run_names(surplus)})
        return list(found.values())


class _Ranges(Sequence[Sequence[int]]):
    """Rows that lie one after the other: eight bytes a run."""

    def __init__(self, ends: Sequence[int]) -> None:
        self._ends = ends

    def __len__(self) -> int:
        return len(self._ends) - 1

    def __getitem__(self, place):  # type: ignore[no-untyped-def]
        return range(self._ends[place], self._ends[place + 1])
