"""Where the rows of a table come from: carried over, replayed, or made with live calls."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa

ORIGINS = ("carried_over", "replayed", "called")
ORIGIN_COLUMNS = ("content_hash", "carried_over", "called")


def origins_text(counts: Mapping[str, int]) -> str:
    """`30: 28 carried over, 2 called`: how many rows there are, and where they come from."""
    named = [f"{counts[f'rows_{origin}']} {origin.replace('_', ' ')}" for origin in ORIGINS]
    told = [text for text in named if not text.startswith("0 ")]
    return f"{sum(counts.values())}: {', '.join(told)}" if told else "none"


def row_origins(table: pa.Table) -> dict[str, int]:
    """How many rows were `rows_carried_over`, `rows_replayed` and `rows_called`; of a check, its own row."""
    counts = dict.fromkeys(ORIGINS, 0)
    columns = (table[name].to_pylist() for name in ORIGIN_COLUMNS)
    for content, carried, called in zip(*columns, strict=True):
        if content is not None:
            counts["carried_over" if carried else "called" if called else "replayed"] += 1
    return {f"rows_{origin}": count for origin, count in counts.items()}
