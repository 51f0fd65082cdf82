"""Where the rows of a table come from: carried over, replayed, made with live calls, or called in vain."""

from __future__ import annotations

from collections.abc import Mapping

import pyarrow as pa

ORIGINS = {
    "carried_over": "carried over",
    "replayed": "replayed",
    "called": "called",
    "failed": "ended by a provider's fault",
}
"""In words; what a provider's fault ended was called in vain."""
ORIGIN_COLUMNS = ("content_hash", "carried_over", "called", "error_source")


def origins_text(counts: Mapping[str, int]) -> str:
    """`30: 28 carried over, 2 called`: how many rows there are, and where they come from."""
    told = [f"{count} {words}" for origin, words in ORIGINS.items() if (count := counts[f"rows_{origin}"])]
    return f"{sum(counts.values())}: {', '.join(told)}" if told else "none"


def row_origins(table: pa.Table) -> dict[str, int]:
    """How many rows have each origin, as `rows_<origin>`; of a check, its own row."""
    counts = dict.fromkeys(ORIGINS, 0)
    columns = (table[name].to_pylist() for name in ORIGIN_COLUMNS)
    for content, carried, called, source in zip(*columns, strict=True):
        if content is not None:
            made = "failed" if source == "provider" else "called" if called else "replayed"
            counts["carried_over" if carried else made] += 1
    return {f"rows_{origin}": count for origin, count in counts.items()}
