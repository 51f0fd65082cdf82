"""A suite's own content as rows: the `cases` and `documents` of a dataset, the `prompts` of a candidate."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence

import pyarrow as pa

from eval_pipeline.cases import Case
from eval_pipeline.documents import Document
from eval_pipeline.suites import Candidate
from eval_pipeline.warehouse.arrow_schemas import CASES, DOCUMENTS, PROMPTS
from eval_pipeline.warehouse.stored_text import json_text, optional_text, stored_text


def cases_table(cases: Sequence[Case], first: int = 0) -> pa.Table:
    """The `cases` table of a dataset, in its order, or a part of it.

    Args:
        cases: all of them or, of many, some.
        first: the place of the first one.

    Raises:
        EvalError: when an input or expectation is not plain JSON.
    """
    rows = [
        {
            "case_id": stored_text(case.id),
            "position": position,
            "question": stored_text(case.question),
            "input": json_text(case.input, f"case {case.id!r}: input"),
            "expected": json_text(case.expected, f"case {case.id!r}: expected"),
            "reference": optional_text(case.reference),
        }
        for position, case in enumerate(cases, start=first)
    ]
    return pa.Table.from_pylist(rows, schema=CASES)


def cases_from(table: pa.Table) -> list[Case]:
    """The cases of a `cases` table, in its order."""
    return [
        Case(row["case_id"], json.loads(row["input"]), row["reference"], json.loads(row["expected"]))
        for row in table.to_pylist()
    ]


def documents_table(documents: Sequence[Document]) -> pa.Table:
    """The `documents` table of a dataset, in the order given."""
    rows = []
    for document in documents:
        text = stored_text(document.text)
        sha = hashlib.sha256(text.encode()).hexdigest()
        rows.append({"document_id": stored_text(document.id), "text": text, "sha": sha})
    return pa.Table.from_pylist(rows, schema=DOCUMENTS)


def documents_from(table: pa.Table) -> list[Document]:
    """The documents of a `documents` table, in its order."""
    return [Document(row["document_id"], row["text"]) for row in table.to_pylist()]


def prompts_table(candidate: Candidate) -> pa.Table:
    """The `prompts` table of a candidate: one row."""
    row = {
        "prompt": stored_text(candidate.prompt),
        "prompt_sha": candidate.prompt_sha,
        "prompt_version": optional_text(candidate.prompt_version),
        "model": None if candidate.model is None else candidate.model.name,
        "embedder": None if candidate.embedder is None else candidate.embedder.name,
        "parameters": json_text(candidate.parameters, f"candidate {candidate.name!r}: parameters"),
    }
    return pa.Table.from_pylist([row], schema=PROMPTS)
