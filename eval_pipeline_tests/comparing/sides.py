"""Sides of a comparison made in memory, and toy results stored as a run stores them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from eval_pipeline.cases import Case
from eval_pipeline.comparing.sides import Side
from eval_pipeline.evaluation import Evaluation
from eval_pipeline.report.case_reports import report_case
from eval_pipeline.scores import CheckResult, Stage
from eval_pipeline.suites import Cell
from eval_pipeline.traces import AgentTrace
from eval_pipeline_tests.report_suite import GROUNDING, RETRIEVAL, TOOLS, check, trace_of

STAGES = (TOOLS, RETRIEVAL, GROUNDING)


def run_of(case_id: str, value: float | None = 1.0, answer: str | None = None, **fields: Any) -> Any:
    """A run with one check of `tools`: of a scorer's error when the value is None."""
    trace = replace(trace_of(case_id, "search_docs"), **fields)
    if answer is not None:
        trace = replace(trace, answer=answer)
    told = {} if value is not None else {"error_source": "scorer", "reason": "it raised"}
    return trace, [check(case_id, TOOLS, value, repeat=trace.repeat, **told)]


def side_of(
    *runs: tuple[AgentTrace, Sequence[CheckResult]],
    candidate: str = "bot@111111111111",
    dataset: str = "docs@222222222222",
    key: Mapping[str, Any] | None = None,
    prompt: str | None = None,
    cases: Sequence[Case] | None = None,
    ladder: tuple[Stage, ...] = STAGES,
) -> Side:
    """A side that ran these; its cases expect something of `tools` alone, unless they are given."""
    made = cases or [
        Case(case_id, f"{case_id}?", expected={"tools": []})
        for case_id in dict.fromkeys(trace.case_id for trace, _ in runs)
    ]
    by_id = {case.id: case for case in made}
    found: dict[str, list[Any]] = {}
    for trace, checks in runs:
        found.setdefault(trace.case_id, []).append(report_case(by_id[trace.case_id], trace, checks, ladder))
    stages = [{"name": stage.name, "threshold": stage.threshold} for stage in ladder]
    return Side(
        cell=Cell("assistant", candidate, dataset),
        key={"suite": "assistant", "prompt_sha": "aaaa", "parameters": {"k": 3}, "stages": stages}
        | dict(key or {}),
        prompt=prompt,
        cases=by_id,
        runs={case_id: tuple(of_case) for case_id, of_case in found.items()},
    )


def store_all(evaluation: Evaluation, suite_name: str, *candidates: str) -> None:
    """Store a suite's cells as `run` does, without Dagster; of some candidates, when they are named."""
    suite = evaluation.suite(suite_name)
    for cell in suite.cells:
        if not candidates or suite.candidates[cell.candidate].name in candidates:
            evaluation.store_cases(cell.suite, cell.dataset)
            evaluation.store_prompt(cell.suite, cell.candidate)
            evaluation.store_traces(cell)
            evaluation.store_scores(cell)
            evaluation.store_report(cell)
    evaluation.rebuild_catalogue()
