"""One case in words: what the system did, step by step, and what each stage says of it."""

from __future__ import annotations

import json
from collections.abc import Sequence, Set
from typing import TYPE_CHECKING

import pyarrow as pa

from eval_pipeline.agent_runs import run_cell
from eval_pipeline.calibration_results import read_records
from eval_pipeline.carry_over.traces import cell_keys
from eval_pipeline.cases import Run
from eval_pipeline.cell_scoring import score_cell
from eval_pipeline.errors import CaseError, NotStoredError
from eval_pipeline.report.case_reports import CaseReport, report_case
from eval_pipeline.report.inert_text import visible
from eval_pipeline.report.table import first_failure_text
from eval_pipeline.scores import CheckResult
from eval_pipeline.stored_runs import refuse_other_runs
from eval_pipeline.suites import Cell, Suite
from eval_pipeline.traces import AgentTrace, ToolCall
from eval_pipeline.warehouse.score_rows import checks_from
from eval_pipeline.warehouse.table_reader import TableReader
from eval_pipeline.warehouse.trace_rows import traces_from
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
    dataset = suite.datasets[cell.dataset]
    if case_id not in dataset.places:
        raise CaseError(f"dataset {cell.dataset}: no case {case_id!r}{did_you_mean(case_id, dataset.places)}")
    case = dataset.case(case_id)
    runs = [Run(case, number) for number in range(dataset.repeats)]
    chosen = [run for run in runs if repeat in (None, run.repeat)]
    if not chosen:
        raise CaseError(
            f"dataset {cell.dataset}: case {case_id!r} has no repeat {repeat}; it has {len(runs)}, from 0"
        )
    try:
        table = evaluation.warehouse.open("traces", **cell_keys(cell))
        refuse_other_runs(suite, cell, lambda: table.tuples("case_id", "repeat"))
        stored = {(trace.case_id, trace.repeat): trace for trace in traces_from(_of_case(table, case_id))}
        traces = [stored[run.key] for run in chosen]
        scores = evaluation.warehouse.open("stage_scores", **cell_keys(cell))
        checks = checks_from(_of_case(scores, case_id))
    except NotStoredError:
        traces, checks = _replay(evaluation, suite, cell, chosen)
    expected = frozenset([*(case.expected.get("pages") or ()), case.expected.get("source")])
    blocks = [f"suite      {suite.name}", f"candidate  {cell.candidate}", f"dataset    {cell.dataset}"]
    blocks.append(f"case       {case.id}")
    for trace in traces:
        blocks += ["", entry("repeat", f"{trace.repeat}, of {len(runs)}")] if len(runs) > 1 else [""]
        blocks.append(trace_text(trace, expected, question=case.question))
        if case.reference is not None:
            blocks.append(entry("reference", case.reference))
        found = [check for check in checks if check.repeat == trace.repeat]
        row = report_case(case, trace, found, suite.stages)
        blocks += [_checks_text(found), entry("verdict", verdict_text(row))]
    return "\n".join(printable(block) for block in blocks)


def _replay(
    evaluation: Evaluation, suite: Suite, cell: Cell, runs: Sequence[Run]
) -> tuple[list[AgentTrace], list[CheckResult]]:
    records = read_records(evaluation.shared_warehouse, suite, cell)
    open_recordings = lambda: evaluation.open_recordings(suite)  # noqa: E731
    traces = run_cell(suite, cell, open_recordings, runs=runs)
    return traces, score_cell(suite, cell, traces, open_recordings, records=records)


def trace_text(trace: AgentTrace, expected: Set[str], question: str | None = None) -> str:
    """A trace step by step; documents in `expected` are marked."""
    lines = [entry("question", trace.case_id if question is None else question)]
    for index, call in enumerate(trace.tool_calls):
        lines.append(
            entry(f"round {call.round}", f"{_call_text(call)}{'' if call.status == 'ok' else '  FAILED'}")
        )
        documents = [found for found in trace.retrieved if found.call == index]
        for found in documents:
            mark = "  <- expected" if found.id in expected else ""
            lines.append(entry("", f"[{found.rank}] {found.id}  (similarity {found.score:.2f}){mark}"))
        if not documents:
            lines.append(entry("", f"-> {call.output[:LONGEST_RESULT]}"))
    for found in trace.retrieved:
        # Of a system that fetches before it asks its model, or does not say what found it.
        if found.call not in range(len(trace.tool_calls)):
            mark = "  <- expected" if found.id in expected else ""
            lines.append(entry("retrieved", f"[{found.rank}] {found.id}{mark}"))
    lines.append(entry("answer", trace.answer if trace.answer is not None else "(none)"))
    if trace.error is not None:
        error = trace.error
        lines.append(entry("error", f"{error.source}: {error.kind}: {error.message}"))
    used = trace.usage
    lines.append(
        entry(
            "usage",
            f"{used.calls} model calls ({used.replayed} replayed, {used.called} made), "
            f"{used.input_tokens} tokens in, {used.output_tokens} out",
        )
    )
    return "\n".join(printable(line) for line in lines)


def _checks_text(checks: Sequence[CheckResult]) -> str:
    lines = ["scores"]
    width = max([26, *(len(check.stage) for check in checks)])
    for check in checks:
        value = "    –" if check.score is None else f"{check.score.value:5.2f}"
        outcome = check.outcome if check.error_source is None else f"{check.outcome} ({check.error_source})"
        advisory = "" if check.gating else "  [does not gate]"
        lines.append(f"  {check.stage:<{width}} {outcome:<12} {value}  {check.reason}{advisory}")
        # Of a check that passed in code there is nothing to add; a judge's steps are why it passed.
        shown = check.score is not None and (check.outcome != "passed" or check.judge is not None)
        details = check.score.details if check.score is not None and shown else {}
        lines += [
            f"  {'':<{width}} {line}"
            for name, value in details.items()
            if value not in ([], {}, None)
            for line in detail_lines(name, value)
        ]
    if not checks:
        lines.append("  no stage applies to this case")
    return "\n".join(lines)


def verdict_text(row: CaseReport) -> str:
    """What a case came to: an error that is not the system's doing is no failure, and no stage no pass."""
    where = first_failure_text(row)
    if row.outcome == "passed":
        return "passes every gating stage"
    if row.first_failure is None:
        return "not measured: of the stages that apply none gates"
    if row.outcome == "failed" or row.first_failure_source == "system":
        return f"fails first at {where}"
    return f"could not be measured, first at {where}"


def detail_lines(name: str, value: object) -> list[str]:
    """A detail of a score in lines: a list of steps, such as a judge's verdicts, one a line."""
    if not isinstance(value, list) or not any(isinstance(step, dict) for step in value):
        return [f"{name}: {_short(value)}"]
    return [f"{name}:", *(f"  {_step_text(step)}" for step in value)]


def _step_text(step: object) -> str:
    if isinstance(step, dict) and "verdict" in step:
        told = next(text for key, text in step.items() if key not in ("verdict", "reason"))
        reason = f"  ({step['reason']})" if step.get("reason") else ""
        return f"{step['verdict']}: {told}{reason}"[:LONGEST_RESULT]
    return _short(step)


def _call_text(call: ToolCall) -> str:
    arguments = ", ".join(f"{name}={_short(value)}" for name, value in call.arguments.items())
    return f"{call.name}({arguments})"


def _short(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)[:LONGEST_RESULT]


def entry(label: str, text: str) -> str:
    """A labelled text, its further lines indented."""
    indent = "\n" + " " * 11
    return f"{label:<10} {text.strip().replace(chr(10), indent)}"


def printable(text: str) -> str:
    """Text whose lines hold nothing that would steer a terminal."""
    return "\n".join(visible(line) for line in text.split("\n"))


def _of_case(table: TableReader, case_id: str) -> pa.Table:
    """The rows of one case."""
    return table.take([row for row, (found,) in enumerate(table.tuples("case_id")) if found == case_id])
