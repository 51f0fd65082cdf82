"""What a stored table says, as hashes and sums."""

from __future__ import annotations

import pyarrow as pa

from eval_pipeline.content_hash import content_hash
from eval_pipeline.warehouse.row_inputs import VOLATILE


def stored_content(table: pa.Table) -> str:
    """Hash of a table but for its volatile columns."""
    columns = [name for name in table.column_names if name not in VOLATILE]
    return content_hash(table.select(columns).to_pylist())


def content_version(table: pa.Table) -> str | None:
    """Hash of what the rows of a table say, by the hash that each was made with; None of an older table."""
    hashes = table["content_hash"]
    return content_hash(hashes.to_pylist()) if hashes.null_count < max(1, len(hashes)) else None


def sums(table: pa.Table, *names: str) -> dict[str, int]:
    """The sum of each of these columns, nulls counting nothing."""
    return {name: sum(filter(None, table[name].to_pylist())) for name in names}
