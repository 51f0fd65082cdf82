"""A judge's stored calibration stands while all that it follows from is the same: it is not replayed then."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from eval_pipeline.calibration_runs import Calibrated, calibrated_stages
from eval_pipeline.carry_over.inputs import Present, calibration_inputs
from eval_pipeline.errors import EvalError
from eval_pipeline.judges import Judge
from eval_pipeline.suites import Suite
from eval_pipeline.warehouse.store import Keys, Warehouse

_FILE = "calibration_inputs.json"


def stands(
    warehouse: Warehouse, suite: Suite, judge: Judge, read_digests: Callable[[], Mapping[str, str]] | None
) -> bool:
    """Whether a judge's stored calibration is the one that it would get now.

    Args:
        warehouse: where results are.
        suite: declares the calibration cases and the stages they try.
        judge: who is tried.
        read_digests: digests of what is recorded now, by id; None to make everything again.
    """
    keys = _keys(suite, judge)
    try:
        noted: Any = json.loads(warehouse.read_text("calibration", _FILE, **keys))
    except (EvalError, ValueError):
        return False
    if read_digests is None or not isinstance(noted, dict) or noted.get("table") != _sha(warehouse, keys):
        return False
    now = calibration_inputs(suite.calibration, judge, calibrated_stages(suite), {})
    alike = now is not None and noted.get("known") == now.known
    return alike and Present(read_digests()).agrees(noted["used"], {})


def forget(warehouse: Warehouse, suite: Suite, judge: Judge) -> None:
    """Say that no calibration is there, before one is written."""
    warehouse.write_text("calibration", _FILE, "null\n", **_keys(suite, judge))


def note(warehouse: Warehouse, suite: Suite, judge: Judge, made: Calibrated) -> None:
    """Say what a calibration followed from, now that its table is in place."""
    inputs = calibration_inputs(suite.calibration, judge, calibrated_stages(suite), made.calls)
    lasting = all(score.error_source in (None, "judge") for score in made.scores)
    if inputs is not None and lasting:
        keys = _keys(suite, judge)
        told = {"known": inputs.known, "used": inputs.used, "table": _sha(warehouse, keys)}
        warehouse.write_text("calibration", _FILE, json.dumps(told) + "\n", **keys)


def _keys(suite: Suite, judge: Judge) -> Keys:
    return {"suite": suite.name, "judge": suite.calibration_key(judge)}


def _sha(warehouse: Warehouse, keys: Keys) -> str | None:
    return warehouse.digest("calibration", "part.parquet", **keys)
