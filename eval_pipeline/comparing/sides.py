"""One side of a comparison: a cell's stored results, with the configuration that they were stored with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from eval_pipeline.cases import Case
from eval_pipeline.report.case_reports import CaseReport
from eval_pipeline.suites import Cell


@dataclass(frozen=True)
class Side:
    """A cell as it was stored last."""

    cell: Cell
    key: Mapping[str, Any]
    """Everything its numbers depend on, as its report says; see `report_key`."""
    prompt: str | None
    """None where only its hash is known."""
    cases: Mapping[str, Case]
    """By id; empty where they are not stored."""
    runs: Mapping[str, tuple[CaseReport, ...]]
    """The repeats of each case, by case id, in the report's order."""
