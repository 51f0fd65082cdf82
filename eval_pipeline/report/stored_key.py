"""The key of a stored report, checked as it is read: somebody may have written into its file."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, JsonValue

from eval_pipeline.errors import NotStoredError
from eval_pipeline.warehouse.store import Keys, Warehouse


class StoredKey(BaseModel):
    """What a report's numbers depend on, as it was stored; see `report_key`."""

    model_config = ConfigDict(extra="allow")

    judge_id: str | None = None
    stages: list[dict[str, JsonValue]] = []

    def stage(self, name: str) -> dict[str, JsonValue] | None:
        """A stage as it was declared; None where there was none of that name."""
        return next((stage for stage in self.stages if stage.get("name") == name), None)


class _Report(BaseModel):
    key: dict[str, JsonValue]


def read_key(warehouse: Warehouse, keys: Keys) -> dict[str, JsonValue]:
    """The key that the report of a cell, given by the keys it is stored under, was stored with.

    Raises:
        NotStoredError: when there is no report, or its file holds something else; it names the remedy.
    """
    try:
        key = _Report.model_validate_json(warehouse.read_text("stage_report", "report.json", **keys)).key
        StoredKey.model_validate(key)
    except ValueError as failure:
        raise NotStoredError(
            f"report.json of {keys.get('candidate')} on {keys.get('dataset')} is no stored report; store it "
            f"again: eval-pipeline run {keys['suite']}"
        ) from failure
    return key
