"""Reads the sides of a comparison from the warehouse: also those whose keys the files no longer make."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from eval_pipeline.carry_over.traces import cell_keys
from eval_pipeline.cases import Case
from eval_pipeline.comparing.configuration import configuration_changes
from eval_pipeline.comparing.sides import Side
from eval_pipeline.errors import NotStoredError
from eval_pipeline.report.case_reports import CaseReport
from eval_pipeline.report.key import report_key
from eval_pipeline.report.stored_key import read_key
from eval_pipeline.scores import CheckResult
from eval_pipeline.suites import Cell, Suite, key_name
from eval_pipeline.traces import AgentTrace
from eval_pipeline.warehouse.score_rows import checks_from
from eval_pipeline.warehouse.store import Warehouse
from eval_pipeline.warehouse.suite_rows import cases_from
from eval_pipeline.warehouse.trace_rows import traces_from


def read_side(warehouse: Warehouse, suite: Suite, cell: Cell) -> Side:
    """A cell as it was stored last, with the configuration that it was stored with.

    The suite's files only fill in what is not stored: a declared candidate's prompt, a declared dataset's
    cases.

    Raises:
        NotStoredError: when traces, scores or report are not stored; it names the command that stores them.
    """
    keys = cell_keys(cell)
    traces = traces_from(warehouse.read("traces", **keys))
    checks = checks_from(warehouse.read("stage_scores", **keys))
    rows = warehouse.read("stage_report", **keys).to_pylist()
    key = read_key(warehouse, keys)
    cases = {case.id: case for case in _cases(warehouse, suite, cell)}
    return Side(
        cell=cell,
        key=key,
        prompt=_prompt(warehouse, suite, cell),
        cases=cases,
        runs=_runs(cases, traces, checks, rows),
    )


def outdated(suite: Suite, side: Side) -> tuple[str, ...]:
    """What changed since a declared candidate's results were stored, such as `system code` or `cases`."""
    dataset = next((key for key in suite.datasets if key_name(key) == key_name(side.cell.dataset)), None)
    if dataset is None or side.cell.candidate not in suite.candidates:
        return ()
    now = replace(side, key=report_key(suite, replace(side.cell, dataset=dataset)))
    return tuple(change.name for change in configuration_changes(side, now))


def _prompt(warehouse: Warehouse, suite: Suite, cell: Cell) -> str | None:
    if cell.candidate in suite.candidates:
        return suite.candidates[cell.candidate].prompt
    try:
        table = warehouse.read("prompts", suite=cell.suite, candidate=cell.candidate)
    except NotStoredError:
        return None
    prompt: str = table.to_pylist()[0]["prompt"]
    return prompt


def _cases(warehouse: Warehouse, suite: Suite, cell: Cell) -> Sequence[Case]:
    if cell.dataset in suite.datasets:
        return suite.datasets[cell.dataset].cases
    try:
        return cases_from(warehouse.read("cases", suite=cell.suite, dataset=cell.dataset))
    except NotStoredError:
        return ()


def _runs(
    cases: Mapping[str, Case],
    traces: Sequence[AgentTrace],
    checks: Sequence[CheckResult],
    rows: Sequence[Mapping[str, Any]],
) -> dict[str, tuple[CaseReport, ...]]:
    """The runs of each case, in the order of the stored report; of a judge's repeats the first counts."""
    by_run: dict[tuple[str, int], dict[str, CheckResult]] = {}
    for check in sorted(checks, key=lambda check: check.judge_repeat):
        by_run.setdefault((check.case_id, check.repeat), {}).setdefault(check.stage, check)
    traced = {(trace.case_id, trace.repeat): trace for trace in traces}
    runs: dict[str, list[CaseReport]] = {}
    for row in rows:
        case_id, place = row["case_id"], (row["case_id"], row["repeat"])
        if place in traced:
            question = cases[case_id].question if case_id in cases else ""
            found = _run(traced[place], question, by_run.get(place, {}), row)
            runs.setdefault(case_id, []).append(found)
    return {case_id: tuple(found) for case_id, found in runs.items()}


def _run(
    trace: AgentTrace, question: str, checks: Mapping[str, CheckResult], row: Mapping[str, Any]
) -> CaseReport:
    return CaseReport(
        trace=trace,
        question=question,
        checks=checks,
        outcome=row["outcome"],
        first_failure=row["first_failure"],
        first_failure_outcome=row["first_failure_outcome"],
        first_failure_source=row["first_failure_source"],
        first_advisory_failure=row["first_advisory_failure"],
    )
