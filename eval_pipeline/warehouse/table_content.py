"""What a stored table says, as hashes and sums."""

from __future__ import annotations

import pyarrow as pa

from eval_pipeline.content_hash import ListHash, content_hash
from eval_pipeline.warehouse.row_inputs import VOLATILE


def stored_content(table: pa.Table) -> str:
    """Hash of a table but for its volatile columns."""
    columns = [name for name in table.column_names if name not in VOLATILE]
    return content_hash(table.select(columns).to_pylist())


class TableTally:
    """A table of traces or checks added up, a part at a time."""

    def __init__(self, *summed: str) -> None:
        """`summed` are columns to add up, nulls counting nothing."""
        self._contents = ListHash()
        self.rows = 0
        self.sums: dict[str, int] = dict.fromkeys(summed, 0)

    def add(self, table: pa.Table) -> None:
        """Rows that were just stored."""
        self._contents.add(table["content_hash"].to_pylist())
        self.rows += table.num_rows
        for name in self.sums:
            self.sums[name] += sum(filter(None, table[name].to_pylist()))

    @property
    def version(self) -> str:
        """Hash of what the rows say, by the hash that each was made with."""
        return self._contents.hexdigest()
