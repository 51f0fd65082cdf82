"""A cell's outcomes: its stage report as one side of a gate."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

from eval_pipeline.content_hash import sha12
from eval_pipeline.gating.outcomes import (
    CheckOutcome,
    DeclaredStage,
    EvalBlock,
    Outcomes,
    check_outcome,
    node_id,
)
from eval_pipeline.report.case_reports import CaseReport
from eval_pipeline.report.key import describe_stage
from eval_pipeline.report.stage_report import StageReport
from eval_pipeline.report.usage import UsageTally
from eval_pipeline.scores import CheckResult, Stage
from eval_pipeline.suites import Cell, Suite
from eval_pipeline.warehouse.stored_text import plain

_DIGITS = 12


def cell_outcomes(suite: Suite, report: StageReport) -> Outcomes:
    """The outcomes of a cell: every check of every repeat, advisory ones included.

    Args:
        suite: the suite that declares the cell.
        report: what became of each case; a stage that applies and was not scored is `not_measured`.
    """
    tally = UsageTally()
    tests: list[CheckOutcome] = []
    for row in report.rows:
        tally.add(row)
        tests += row_outcomes(suite, row)
    return dataclasses.replace(outcomes_head(suite, report, tally), tests=tuple(tests))


def outcomes_head(suite: Suite, report: StageReport, tally: UsageTally) -> Outcomes:
    """All of a cell's outcomes but the checks' own; `tally` was given every row."""
    offered = tally.offered if report.summary.runs and suite.system.recorded_as is None else None
    return Outcomes(eval_block(suite, report.cell, offered), (), tally.usage(), report.records)


def row_outcomes(suite: Suite, row: CaseReport) -> list[CheckOutcome]:
    """The outcomes of a row's checks."""
    return [check_outcome(suite.name, check) for check in _every_check(row)]


def eval_block(suite: Suite, cell: Cell, offered: Mapping[str, str] | None = None) -> EvalBlock:
    """What a cell is made with; hashes have 12 digits, as in its report's key.

    Args:
        suite: the suite that declares the cell.
        cell: which candidate on which dataset.
        offered: hash of the schema of each tool that its models were offered, by name; None where no run
            has told.
    """
    dataset = suite.datasets[cell.dataset]
    candidate = suite.candidates[cell.candidate]
    judge = suite.judge_of(cell.candidate)
    parameters = dict(candidate.parameters)
    k = parameters.get("k")
    if isinstance(k, int) and not isinstance(k, bool):
        del parameters["k"]
    else:
        k = None
    fields: dict[str, Any] = {
        "suite": suite.name,
        "dataset": f"{dataset.name}@{dataset.version}",
        "cases_sha": dataset.cases_sha[:_DIGITS],
        "docs_sha": dataset.docs_sha[:_DIGITS],
        "dataset_sha": dataset.sha[:_DIGITS],
        "judge_id": judge and judge.id[:_DIGITS],
        "judge_model": judge and judge.model.name,
        "model": candidate.model and candidate.model.name,
        "model_sha": candidate.model and sha12(candidate.model.identity),
        "prompt_version": candidate.prompt_version,
        "prompt_sha": candidate.prompt_sha[:_DIGITS] if candidate.prompt else None,
        "embedder": candidate.embedder and candidate.embedder.name,
        "embedder_sha": candidate.embedder and sha12(candidate.embedder.identity),
        "k": k,
        "parameters_sha": sha12(parameters) if parameters else None,
        "system_code_sha": suite.system.code_sha[:_DIGITS],
        "stages": tuple(_declared(stage) for stage in suite.stages),
        "repeats": dataset.repeats,
    }
    if offered is not None:
        fields["tool_schemas_sha"] = sha12(dict(offered)) if offered else None
    return EvalBlock(**fields)


def declared_outcomes(suite: Suite) -> Outcomes:
    """Every check that any of the suite's datasets asks for, unmeasured: what a policy's names may mean."""
    tests = tuple(
        CheckOutcome(node_id(suite.name, case.id, stage.name), case.id, stage.name, "not_measured")
        for dataset in suite.datasets.values()
        for case in dataset.cases
        for stage in suite.stages
        if stage.applies(case)
    )
    stages = tuple(_declared(stage) for stage in suite.stages)
    return Outcomes(EvalBlock(suite=suite.name, dataset="*", cases_sha="*", stages=stages), tests)


def _declared(stage: Stage) -> DeclaredStage:
    return DeclaredStage(**plain(describe_stage(stage), f"stage {stage.name}"))


def _every_check(row: CaseReport) -> Iterator[CheckResult]:
    """All checks of a row in the order of the stages, those of one stage by the judge's repeats."""
    scored: dict[str, list[CheckResult]] = {}
    for check in sorted(row.scored, key=lambda check: check.judge_repeat):
        scored.setdefault(check.stage, []).append(check)
    for name, check in row.checks.items():
        yield from scored.get(name, (check,))
