"""Which rows of a stored table have one of some hashes: twelve bytes a row, whatever the rows hold."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow.compute as pc

from eval_pipeline.warehouse.table_reader import TableReader

_DIGITS = 16
"""Hex digits of a hash that the index goes by; who asks compares the whole of it."""


class KnownIndex:
    """The rows of a table by the beginning of their `inputs_known`."""

    def __init__(self, table: TableReader) -> None:
        """Go through a table.

        Raises:
            EvalError: when it cannot be read.
        """
        digests: list[npt.NDArray[np.uint64]] = []
        rows: list[npt.NDArray[np.int32]] = []
        start = 0
        for part in table.parts(("inputs_known",)):
            known = part["inputs_known"]
            rows.append(np.flatnonzero(known.is_valid()).astype(np.int32) + np.int32(start))
            digests.append(_digests(pc.utf8_slice_codeunits(known.drop_null(), 0, _DIGITS).to_pylist()))
            start += part.num_rows
        found = np.concatenate([_digests([]), *digests])
        order = np.argsort(found, kind="stable")
        self._digests = found[order]
        self._rows = np.concatenate([np.array([], np.int32), *rows])[order]

    def rows(self, wanted: Sequence[str]) -> list[int]:
        """The rows whose hash begins like one of these, in their order."""
        digests = _digests(wanted)
        begin = np.searchsorted(self._digests, digests, "left")
        end = np.searchsorted(self._digests, digests, "right")
        some = begin < end
        found = [self._rows[a:b] for a, b in zip(begin[some], end[some], strict=True)]
        return [] if not found else np.unique(np.concatenate(found)).tolist()


def _digests(hashes: Sequence[str]) -> npt.NDArray[np.uint64]:
    return np.frombuffer(bytes.fromhex("".join(sha[:_DIGITS] for sha in hashes)), ">u8").astype(np.uint64)
