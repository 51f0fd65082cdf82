"""The columns of every stored table, as explicit Arrow schemas, and the keys each is filed under.

The keys (suite, dataset, candidate, judge) are not in the files: they stand in the hive path, and the
catalogue's views show them as the first columns.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import pyarrow as pa

Key = Literal["suite", "dataset", "candidate", "judge"]

_TEXT = pa.string()
_COUNT = pa.int64()
_NUMBER = pa.float64()
_FLAG = pa.bool_()
_JSON = pa.string()
"""Plain JSON as text: its shape belongs to the suite, and DuckDB's `->` reads it."""


def _schema(required: Mapping[str, pa.DataType], optional: Mapping[str, pa.DataType]) -> pa.Schema:
    fields = [pa.field(name, kind, nullable=False) for name, kind in required.items()]
    return pa.schema(fields + [pa.field(name, kind) for name, kind in optional.items()])


CASES = _schema(
    {"case_id": _TEXT, "position": _COUNT, "question": _TEXT, "input": _JSON, "expected": _JSON},
    {"reference": _TEXT},
)
"""One row a case, in the dataset's order (`position` from 0)."""

DOCUMENTS = _schema({"document_id": _TEXT, "text": _TEXT, "sha": _TEXT}, {})
"""One row a page; `sha` is sha256 of its text."""

PROMPTS = _schema(
    {"prompt": _TEXT, "prompt_sha": _TEXT, "parameters": _JSON},
    {"prompt_version": _TEXT, "model": _TEXT, "embedder": _TEXT},
)
"""One row a candidate: its prompt and what else it is made of."""

TOOL_CALL = pa.struct({"name": _TEXT, "arguments": _JSON, "output": _TEXT, "status": _TEXT, "round": _COUNT})
RETRIEVED = pa.struct({"id": _TEXT, "rank": _COUNT, "score": _NUMBER, "text": _TEXT, "call": _COUNT})

INPUTS: Mapping[str, pa.DataType] = {
    "inputs_hash": _TEXT,
    "inputs_known": _TEXT,
    "inputs_used": _TEXT,
    "content_hash": _TEXT,
    "carried_over": _FLAG,
}
"""What a row followed from, as one hash and in two parts (see `carry_over.inputs`), null where it is never to
be carried over; the hash of what it says; and whether it was taken from an earlier row instead of made."""

TRACES = _schema(
    {
        "case_id": _TEXT,
        "repeat": _COUNT,
        "tool_calls": pa.list_(TOOL_CALL),
        "retrieved": pa.list_(RETRIEVED),
        "context": pa.list_(_TEXT),
        "messages": _JSON,
        "calls": _COUNT,
        "called": _COUNT,
        "replayed": _COUNT,
        "input_tokens": _COUNT,
        "output_tokens": _COUNT,
        "latency_ms": _NUMBER,
    },
    {
        "answer": _TEXT,
        "structured": _JSON,
        "tool_schemas": _JSON,
        "error_source": _TEXT,
        "error_kind": _TEXT,
        "error_message": _TEXT,
        "cost": _NUMBER,
        **INPUTS,
    },
)
"""One row a case and repeat: everything one run of the system did."""

STAGE_SCORES = _schema(
    {
        "case_id": _TEXT,
        "repeat": _COUNT,
        "judge_repeat": _COUNT,
        "stage": _TEXT,
        "metric": _TEXT,
        "gating": _FLAG,
    },
    {
        "score": _NUMBER,
        "threshold": _NUMBER,
        "passed": _FLAG,
        "outcome": _TEXT,
        "reason": _TEXT,
        "judge": _TEXT,
        "error": _TEXT,
        "error_source": _TEXT,
        "calls": _COUNT,
        "tokens": _COUNT,
        "cost": _NUMBER,
        "milliseconds": _NUMBER,
        "details": _JSON,
        "called": _COUNT,
        "own_calls": _COUNT,
        "own_tokens": _COUNT,
        "own_cost": _NUMBER,
        **INPUTS,
    },
)
"""One row a number: a check's own score is the row whose `metric` is the stage's name; the check's further
metrics follow, without outcome and never gating. `score` is null when unmeasured; `passed` is the scorer's
own verdict, null where score and threshold decide. `calls`, `called`, `tokens` and `cost` are zero where all
of a check's calls were counted for a stage before it; `own_…` is what it took by itself."""

STAGE_REPORT = _schema(
    {"case_id": _TEXT, "repeat": _COUNT, "outcome": _TEXT, "calls": pa.list_(_TEXT), "row": _JSON},
    {
        "answer": _TEXT,
        "first_failure": _TEXT,
        "first_failure_outcome": _TEXT,
        "first_failure_source": _TEXT,
        "first_advisory_failure": _TEXT,
        "error_source": _TEXT,
        "error_kind": _TEXT,
        "error_message": _TEXT,
    },
)
"""One row a case and repeat: what became of it; `row` is its row of `report.json`."""

CALIBRATION = _schema(
    {
        "case_id": _TEXT,
        "metric": _TEXT,
        "expected": _TEXT,
        "judge_repeat": _COUNT,
        "outcome": _TEXT,
        "threshold": _NUMBER,
        "reason": _TEXT,
    },
    {
        "score": _NUMBER,
        "error_source": _TEXT,
        "judge_id": _TEXT,
        "calls": _COUNT,
        "tokens": _COUNT,
        "details": _JSON,
    },
)
"""One row a calibration case, metric and repeat of the judge; `judge_id` is null where no judge scores."""

REASON = pa.struct({"verdict": _TEXT, "rule": _TEXT, "text": _TEXT, "tests": pa.list_(_TEXT)})

GATE_DECISION = _schema(
    {
        "decision": _TEXT,
        "exit_code": _COUNT,
        "reasons": pa.list_(REASON),
        "regressed": pa.list_(_TEXT),
        "fixed": pa.list_(_TEXT),
        "critical_failures": pa.list_(_TEXT),
        "missing": pa.list_(_TEXT),
        "new": pa.list_(_TEXT),
        "unmeasured": pa.list_(_TEXT),
        "passed": _COUNT,
        "measured": _COUNT,
        "details": _JSON,
    },
    {"baseline_dataset": _TEXT, "baseline_model": _TEXT, "baseline_prompt": _TEXT},
)
"""One row: what the gate says of a cell and why; lists hold node ids, `passed` and `measured` count gating
tests, and `details` is the whole decision."""

RUNS = _schema(
    {
        "run_id": _TEXT,
        "stored_at": pa.timestamp("us", tz="UTC"),
        "suite": _TEXT,
        "candidate": _TEXT,
        "dataset": _TEXT,
        "record_mode": _TEXT,
        "cases": _COUNT,
        "passed": _COUNT,
        "failed": _COUNT,
        "errors": _COUNT,
        "not_measured": _COUNT,
        "calls": _COUNT,
        "called": _COUNT,
        "input_tokens": _COUNT,
        "output_tokens": _COUNT,
    },
    {
        "cost": _NUMBER,
        "judge_calls": _COUNT,
        "judge_called": _COUNT,
        "judge_tokens": _COUNT,
        "repeats": _COUNT,
    },
)
"""One row a materialized cell, appended and never changed; its keys are columns of the file. The counts from
`passed` to `not_measured` are of runs: `cases` times `repeats`. `calls` to `output_tokens` are the agent's;
`cost` is the agent's and the judge's, in US dollars."""


@dataclass(frozen=True)
class StoredTable:
    """How one asset is stored: its columns, and the keys of its path in their order."""

    schema: pa.Schema
    keys: tuple[Key, ...]


STORED_TABLES: Mapping[str, StoredTable] = {
    "cases": StoredTable(CASES, ("suite", "dataset")),
    "documents": StoredTable(DOCUMENTS, ("suite", "dataset")),
    "prompts": StoredTable(PROMPTS, ("suite", "candidate")),
    "traces": StoredTable(TRACES, ("suite", "dataset", "candidate")),
    "stage_scores": StoredTable(STAGE_SCORES, ("suite", "dataset", "candidate")),
    "stage_report": StoredTable(STAGE_REPORT, ("suite", "dataset", "candidate")),
    "gate_decision": StoredTable(GATE_DECISION, ("suite", "dataset", "candidate")),
    "calibration": StoredTable(CALIBRATION, ("suite", "judge")),
}
"""Every asset that is stored as `part.parquet`, by its name."""


def conform(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """`table` in exactly the columns of `schema`: files of an older version lack some, which become null.

    Raises:
        pa.ArrowInvalid: when a column cannot become the schema's type.
    """
    columns = [
        table[field.name].cast(field.type)
        if field.name in table.column_names
        else pa.nulls(table.num_rows, field.type)
        for field in schema
    ]
    return pa.table(columns, schema=schema)
