"""Stores a stage report, unless the one that is stored says the same: writing it is most of its cost."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from eval_pipeline.content_hash import content_hash
from eval_pipeline.errors import EvalError
from eval_pipeline.fingerprints import report_code
from eval_pipeline.gating.outcomes import Outcomes
from eval_pipeline.gating.own_outcomes import outcomes_text
from eval_pipeline.report.json_form import plain_rows, report_head, report_json
from eval_pipeline.report.rows import report_table
from eval_pipeline.report.stage_report import StageReport
from eval_pipeline.warehouse.store import Keys, Warehouse

_INPUTS_FILE = "report_inputs.json"


def store_report(
    warehouse: Warehouse, report: StageReport, outcomes: Outcomes, contents: Sequence[Any] | None
) -> str:
    """Store the table with `report.json` and `outcomes.json` beside it; gives the hash of what they say.

    Args:
        warehouse: where results go.
        report: what is stored.
        outcomes: the same run as the gate compares it.
        contents: hashes of the tables that it is made of; None where these are not known.
    """
    cell = report.cell
    keys: Keys = {"suite": cell.suite, "candidate": cell.candidate, "dataset": cell.dataset}
    code = report_code()
    compared = [part and part.model_dump(mode="json") for part in (outcomes.eval, outcomes.usage)]
    calibration = {
        name: record.model_dump(mode="json") for name, record in (outcomes.calibration or {}).items()
    }
    known = code is not None and contents is not None
    inputs = content_hash([report_head(report), compared, calibration, contents, code]) if known else None
    kept = _kept(warehouse, keys)
    if kept is not None and inputs is not None and kept["inputs"] == inputs:
        return str(kept["version"])
    rows = plain_rows(report)
    table = report_table(report, rows)
    warehouse.write("stage_report", table, **keys)
    warehouse.write_text("stage_report", "report.json", report_json(report, rows), **keys)
    warehouse.write_text("stage_report", "outcomes.json", outcomes_text(outcomes), **keys)
    # A corrected price list is no other content.
    unpriced = replace(report, summary=replace(report.summary, cost=None))
    version = content_hash([report_head(unpriced), table["row"].to_pylist(), compared[0]])
    told = json.dumps({"inputs": inputs, "version": version}) + "\n"
    warehouse.write_text("stage_report", _INPUTS_FILE, told, **keys)
    return version


def _kept(warehouse: Warehouse, keys: Keys) -> dict[str, Any] | None:
    """What the stored report was made of; None where it is not all there."""
    try:
        kept: dict[str, Any] = json.loads(warehouse.read_text("stage_report", _INPUTS_FILE, **keys))
        warehouse.read("stage_report", columns=["case_id"], **keys)
        for name in ("report.json", "outcomes.json"):
            warehouse.read_text("stage_report", name, **keys)
    except (EvalError, ValueError):
        return None
    return kept
