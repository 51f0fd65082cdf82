"""Rows are found by what was known before they were made, in whatever row group they lie."""

from __future__ import annotations

import pytest

from eval_pipeline.carry_over.known_index import KnownIndex
from eval_pipeline.content_hash import content_hash
from eval_pipeline.warehouse.arrow_schemas import STAGE_SCORES
from eval_pipeline.warehouse.store import Warehouse

HASHES = [content_hash(number) for number in range(5)]
"""Of seven rows in windows of three: the second check has a metric's row, the last is never to be found."""
KNOWN = [HASHES[0], HASHES[1], HASHES[1], HASHES[2], HASHES[3], HASHES[4], None]


@pytest.fixture
def index(tmp_path, monkeypatch):
    monkeypatch.setattr("eval_pipeline.windows.SIZE", 3)
    row = {"case_id": "a", "repeat": 0, "judge_repeat": 0, "stage": "s", "metric": "s", "gating": True}
    table = STAGE_SCORES.empty_table().from_pylist(
        [row | {"inputs_known": known} for known in KNOWN], schema=STAGE_SCORES
    )
    warehouse = Warehouse(str(tmp_path))
    keys = {"suite": "toy", "dataset": "d@1", "candidate": "c@1"}
    warehouse.write("stage_scores", table, **keys)
    return KnownIndex(warehouse.open("stage_scores", **keys))


def test_all_rows_of_a_hash_are_found_in_their_order(index):
    assert index.rows([HASHES[4], HASHES[1]]) == [1, 2, 5]


def test_an_unknown_hash_has_none(index):
    assert index.rows([content_hash("other")]) == []


def test_a_hash_that_begins_alike_is_for_the_caller_to_tell(index):
    assert index.rows([HASHES[0][:16] + "0" * 48]) == [0]
