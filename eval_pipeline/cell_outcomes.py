"""A cell's outcomes: its stage report as one side of a gate."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from eval_pipeline.content_hash import sha12
from eval_pipeline.gating.outcomes import (
    CheckOutcome,
    DeclaredStage,
    EvalBlock,
    Outcomes,
    RunUsage,
    node_id,
    outcomes_of_checks,
)
from eval_pipeline.prices import total_cost
from eval_pipeline.report.key import describe_stage
from eval_pipeline.report.stage_report import StageReport
from eval_pipeline.scores import CheckResult, Stage
from eval_pipeline.suites import Cell, Suite
from eval_pipeline.traces import AgentTrace
from eval_pipeline.warehouse.stored_text import plain

_DIGITS = 12


def cell_outcomes(suite: Suite, report: StageReport, checks: Sequence[CheckResult]) -> Outcomes:
    """The outcomes of a cell: every check of every repeat, advisory ones included.

    Args:
        suite: the suite that declares the cell.
        report: what became of each case; a stage that applies and was not scored is `not_measured`.
        checks: all that was scored, so that a judge's further repeats are in it too.
    """
    traces = [row.trace for row in report.rows]
    return outcomes_of_checks(
        block=eval_block(suite, report.cell, traces),
        checks=_every_check(report, checks),
        usage=_usage(traces),
        calibration=report.records,
    )


def eval_block(suite: Suite, cell: Cell, traces: Sequence[AgentTrace] = ()) -> EvalBlock:
    """What a cell is made with; hashes have 12 digits, as in its report's key.

    Without traces nothing is known of the tools that its models were offered.
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
    if traces and suite.system.recorded_as is None:
        fields["tool_schemas_sha"] = _tool_schemas_sha(traces)
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


def _every_check(report: StageReport, checks: Sequence[CheckResult]) -> Iterator[CheckResult]:
    """All checks in the report's order, those of one stage by the judge's repeats."""
    scored: dict[tuple[str, int, str], list[CheckResult]] = {}
    for check in sorted(checks, key=lambda check: check.judge_repeat):
        scored.setdefault((check.case_id, check.repeat, check.stage), []).append(check)
    for row in report.rows:
        for name, check in row.checks.items():
            yield from scored.get((check.case_id, check.repeat, name), (check,))


def _tool_schemas_sha(traces: Sequence[AgentTrace]) -> str | None:
    """Hash of the schemas of all tools offered; None where no model was offered any."""
    offered: Mapping[str, str] = {name: sha for trace in traces for name, sha in trace.tool_schemas.items()}
    return sha12(offered) if offered else None


def _usage(traces: Sequence[AgentTrace]) -> RunUsage | None:
    """What the system's calls took when they were made; None of a system that made none.

    Its own running time is left out: another run of equal content takes another.
    """
    asked = [trace for trace in traces if trace.usage.calls]
    if not asked:
        return None
    return RunUsage(
        calls=sum(trace.usage.calls for trace in traces),
        input_tokens=sum(trace.usage.input_tokens for trace in traces),
        output_tokens=sum(trace.usage.output_tokens for trace in traces),
        cost_usd=total_cost(trace.usage.cost for trace in asked),
        latency_ms=round(math.fsum(trace.latency_ms for trace in asked) / len(traces), 3),
    )
