"""Traces as rows of the `traces` table, and back."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from eval_pipeline.traces import AgentTrace, RetrievedDocument, ToolCall, TraceError, Usage
from eval_pipeline.warehouse.arrow_schemas import INPUTS, TRACES
from eval_pipeline.warehouse.row_inputs import RowInputs, hashed, input_columns
from eval_pipeline.warehouse.stored_text import json_text, optional_text, stored_text

_READ = [name for name in TRACES.names if name not in INPUTS]


def traces_table(
    traces: Sequence[AgentTrace], inputs: Mapping[tuple[str, int], RowInputs | None] | None = None
) -> pa.Table:
    """The `traces` table, a row a trace in the order given.

    Args:
        traces: what the runs did.
        inputs: what a trace followed from, by case id and repeat.

    Raises:
        EvalError: when arguments, messages or structured output are not plain JSON.
    """
    known = inputs or {}
    rows = [hashed(_row(trace)) | input_columns(known.get((trace.case_id, trace.repeat))) for trace in traces]
    return pa.Table.from_pylist(rows, schema=TRACES)


def traces_from(table: pa.Table) -> list[AgentTrace]:
    """The traces of a `traces` table, in its order."""
    return [_trace(row) for row in table.select(_READ).to_pylist()]


def _row(trace: AgentTrace) -> dict[str, Any]:
    place = f"trace of case {trace.case_id!r}"
    return {
        "case_id": stored_text(trace.case_id),
        "repeat": trace.repeat,
        "answer": optional_text(trace.answer),
        "tool_calls": [
            {
                "name": stored_text(call.name),
                "arguments": json_text(call.arguments, f"{place}: arguments of {call.name}"),
                "output": stored_text(call.output),
                "status": call.status,
                "round": call.round,
            }
            for call in trace.tool_calls
        ],
        "retrieved": [
            {
                "id": stored_text(document.id),
                "rank": document.rank,
                "score": None if math.isnan(document.score) else document.score,
                "text": stored_text(document.text),
                "call": document.call,
            }
            for document in trace.retrieved
        ],
        "context": [stored_text(text) for text in trace.context],
        "messages": json_text(trace.messages, f"{place}: messages"),
        "structured": None
        if trace.structured is None
        else json_text(trace.structured, f"{place}: structured output"),
        "calls": trace.usage.calls,
        "called": trace.usage.called,
        "replayed": trace.usage.replayed,
        "input_tokens": trace.usage.input_tokens,
        "output_tokens": trace.usage.output_tokens,
        "latency_ms": trace.latency_ms,
        "cost": trace.usage.cost,
        "tool_schemas": json_text(trace.tool_schemas, f"{place}: tool schemas")
        if trace.tool_schemas
        else None,
        "error_source": trace.error and trace.error.source,
        "error_kind": trace.error and stored_text(trace.error.kind),
        "error_message": trace.error and stored_text(trace.error.message),
    }


def _trace(row: Mapping[str, Any]) -> AgentTrace:
    error = row["error_source"]
    return AgentTrace.trusted(
        {
            "case_id": row["case_id"],
            "repeat": row["repeat"],
            "answer": row["answer"],
            "tool_calls": tuple(
                ToolCall(**{**call, "arguments": json.loads(call["arguments"])}) for call in row["tool_calls"]
            ),
            "retrieved": tuple(
                RetrievedDocument(
                    **{**found, "score": math.nan if found["score"] is None else found["score"]}
                )
                for found in row["retrieved"]
            ),
            "context": tuple(row["context"]),
            "messages": tuple(json.loads(row["messages"])),
            "structured": None if row["structured"] is None else json.loads(row["structured"]),
            "usage": Usage(
                row["calls"], row["called"], row["input_tokens"], row["output_tokens"], row["cost"]
            ),
            "latency_ms": row["latency_ms"],
            "tool_schemas": json.loads(row["tool_schemas"] or "{}"),
            "error": None if error is None else TraceError(error, row["error_kind"], row["error_message"]),
        }
    )
