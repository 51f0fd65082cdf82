"""One case in words: what the system did, step by step, and what each stage says of it."""

from __future__ import annotations

import json
from collections.abc import Sequence, Set
from typing import TYPE_CHECKING

from eval_pipeline.agent_runs import run_cell
from eval_pipeline.calibration_results import read_records
from eval_pipeline.cases import Run
from eval_pipeline.errors import CaseError, NotStoredError
from eval_pipeline.judge_runs import score_cell
from eval_pipeline.report.inert_text import visible
from eval_pipeline.scores import CheckResult
from eval_pipeline.stored_runs import refuse_other_runs
from eval_pipeline.suites import Cell, Suite
from eval_pipeline.traces import AgentTrace, ToolCall
from eval_pipeline.yaml_files import did_you_mean

if TYPE_CHECKING:
    from eval_pipeline.evaluation import Evaluation

LONGEST_RESULT = 600
"""Characters of a tool result that are shown."""


def explain_case(
    evaluation: Evaluation, suite: Suite, cell: Cell, case_id: str, repeat: int | None = None
) -> str:
    """The stored traces and outcomes of a case; replayed when none are, or those of other repeats.

    Args:
        evaluation: where results are stored.
        suite: the suite of the cell.
        cell: which candidate on which dataset.
        case_id: which case.
        repeat: which of its repeats, from 0; None means all.

    Raises:
        CaseError: when the dataset has no such case, or does not repeat it that often.
        RecordingMisses: when the recordings do not answer it, with what differs.
    """
    cases = {case.id: case for case in suite.datasets[cell.dataset].cases}
    if case_id not in cases:
        raise CaseError(f"dataset {cell.dataset}: no case {case_id!r}{did_you_mean(case_id, list(cases))}")
    runs = [run for run in suite.datasets[cell.dataset].runs if run.case.id == case_id]
    chosen = [run for run in runs if repeat in (None, run.repeat)]
    if not chosen:
        raise CaseError(
            f"dataset {cell.dataset}: case {case_id!r} has no repeat {repeat}; it has {len(runs)}, from 0"
        )
    case = cases[case_id]
    try:
        stored = {(trace.case_id, trace.repeat): trace for trace in evaluation.read_traces(cell)}
        refuse_other_runs(suite, cell, stored.keys())
        traces = [stored[run.key] for run in chosen]
        checks = [check for check in evaluation.read_checks(cell) if check.case_id == case_id]
    except NotStoredError:
        traces, checks = _replay(evaluation, suite, cell, chosen)
    expected = frozenset([*(case.expected.get("pages") or ()), case.expected.get("source")])
