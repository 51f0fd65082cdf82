"""Where rows come from, as numbers and in words."""

from __future__ import annotations

import pyarrow as pa

from eval_pipeline.carry_over.origins import ORIGINS, origins_text, row_origins


def test_each_row_has_one_origin_and_rows_of_metrics_have_none():
    table = pa.table(
        {
            "content_hash": ["a", "b", "c", "d", "e", None],
            "carried_over": [True, False, False, False, True, True],
            "called": [0, 2, 0, 0, 0, None],
            # A provider's fault is a call made in vain; what a system did wrong is an answer.
            "error_source": [None, None, "system", "provider", "system", None],
        }
    )
    counts = row_origins(table)
    assert counts == {"rows_carried_over": 2, "rows_replayed": 1, "rows_called": 1, "rows_failed": 1}
    told = "5: 2 carried over, 1 replayed, 1 called, 1 ended by a provider's fault"
    assert origins_text(counts) == told


def test_no_rows_are_none():
    assert origins_text({f"rows_{origin}": 0 for origin in ORIGINS}) == "none"
