"""A judge's stored calibration stands while all that it follows from is the same: it is not replayed then."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pydantic import TypeAdapter

from eval_pipeline.calibration_runs import Calibrated, calibrated_stages
from eval_pipeline.carry_over.inputs import Present, calibration_inputs
from eval_pipeline.errors import EvalError
from eval_pipeline.judges import Judge
from eval_pipeline.suites import Suite
from eval_pipeline.warehouse.store import Keys, Warehouse

_FILE = "calibration_inputs.json"


@dataclass(frozen=True)
class _Noted:
    known: str
    used: tuple[str, ...]
    """As of `RowInputs`."""
    table: str
    """Hash of the table's file."""


_NOTED = TypeAdapter(_Noted)


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
        noted = _NOTED.validate_json(warehouse.read_text("calibration", _FILE, **keys))
    except (EvalError, ValueError):
        return False
    if read_digests is None or noted.table != _sha(warehouse, keys):
        return False
    now = calibration_inputs(suite.calibration, judge, calibrated_stages(suite), {})
    alike = now is not None and noted.known == now.known
    return alike and Present(read_digests()).agrees(noted.used, {})


def forget(warehouse: Warehouse, suite: Suite, judge: Judge) -> None:
    """Say that no calibration is there, before one is written."""
    warehouse.write_text("calibration", _FILE, "null\n", **_keys(suite, judge))


def note(warehouse: Warehouse, suite: Suite, judge: Judge, made: Calibrated) -> None:
    """Say what a calibration followed from, now that its table is in place."""
    inputs = calibration_inputs(suite.calibration, judge, calibrated_stages(suite), made.calls)
    lasting = all(score.error_source in (None, "judge") for score in made.scores)
    keys = _keys(suite, judge)
    table = _sha(warehouse, keys)
    if inputs is not None and lasting and table is not None:
        told = _NOTED.dump_json(_Noted(inputs.known, inputs.used, table))
        warehouse.write_text("calibration", _FILE, told.decode() + "\n", **keys)


def _keys(suite: Suite, judge: Judge) -> Keys:
    return {"suite": suite.name, "judge": suite.calibration_key(judge)}


def _sha(warehouse: Warehouse, keys: Keys) -> str | None:
    return warehouse.digest("calibration", "part.parquet", **keys)
