"""Many cases, kept in a file of this process's own: a few words of memory each, whatever stands in them."""

from __future__ import annotations

import marshal
import os
import tempfile
import weakref
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, overload

from eval_pipeline.cases import Case
from eval_pipeline.errors import EvalError
from eval_pipeline.windows import windows


class KeptCases(Sequence[Case]):
    """Cases that were read and checked; they stay as they were read, whatever becomes of their file."""

    def __init__(self) -> None:
        """None yet.

        Raises:
            EvalError: when there is no room for temporary files.
        """
        try:
            self._file, name = tempfile.mkstemp(prefix="evals-cases-")
            os.unlink(name)  # it goes with the last who has it open
        except OSError as failure:
            raise EvalError(f"no temporary file for cases: {failure.strerror}; set TMPDIR") from failure
        weakref.finalize(self, os.close, self._file)
        self._ends = array("Q", [0])
        self.places: dict[str, int] = {}
        """The place of each case, by its id."""
        self.shas: list[bytes] = []
        """Of each case."""

    def extend(self, cases: Iterable[Case]) -> None:
        """Add cases, each with an id of its own.

        Raises:
            EvalError: when the disk is full.
        """
        parts: list[bytes] = []
        for case in cases:
            self.places[case.id] = len(self.places)
            fields: Any = (case.id, case.input, case.reference, case.expected, tuple(case.left_out))
            parts.append(marshal.dumps(fields))
            self._ends.append(self._ends[-1] + len(parts[-1]))
            self.shas.append(case.sha)
        left = memoryview(b"".join(parts))
        try:
            while left:
                left = left[os.write(self._file, left) :]
        except OSError as failure:
            raise EvalError(f"no temporary file for cases: {failure.strerror}; set TMPDIR") from failure

    def __len__(self) -> int:
        return len(self._ends) - 1

    @overload
    def __getitem__(self, place: int) -> Case: ...
    @overload
    def __getitem__(self, place: slice) -> list[Case]: ...
    def __getitem__(self, place: int | slice) -> Case | list[Case]:
        """A case, or some of them."""
        if isinstance(place, slice):
            places = range(*place.indices(len(self)))
            return self._read(places) if places.step == 1 else [self[i] for i in places]
        if not -len(self) <= place < len(self):
            raise IndexError(place)
        place %= len(self)
        return self._read(range(place, place + 1))[0]

    def __iter__(self) -> Iterator[Case]:
        """All cases."""
        for places in windows(range(len(self))):
            yield from self._read(places)

    def _read(self, places: Sequence[int]) -> list[Case]:
        """Cases that lie one after the other."""
        if not places:
            return []
        begin, end = self._ends[places[0]], self._ends[places[-1] + 1]
        found = memoryview(os.pread(self._file, end - begin, begin))
        cases: list[Case] = []
        for place in places:
            fields = marshal.loads(found[self._ends[place] - begin : self._ends[place + 1] - begin])
            case_id, asked, reference, expected, left_out = fields
            cases.append(Case(case_id, asked, reference, expected, frozenset(left_out)))
        return cases


class JoinedCases(Sequence[Case]):
    """The cases of several datasets, one after the other."""

    def __init__(self, parts: Sequence[Sequence[Case]]) -> None:
        self._parts = parts

    def __len__(self) -> int:
        return sum(map(len, self._parts))

    def __iter__(self) -> Iterator[Case]:
        """All cases."""
        for part in self._parts:
            yield from part

    @overload
    def __getitem__(self, place: int) -> Case: ...
    @overload
    def __getitem__(self, place: slice) -> list[Case]: ...
    def __getitem__(self, place: int | slice) -> Case | list[Case]:
        """A case, or some of them."""
        if isinstance(place, slice):
            return [self[i] for i in range(*place.indices(len(self)))]
        left = place if place >= 0 else place + len(self)
        for part in self._parts:
            if 0 <= left < len(part):
                return part[left]
            left -= len(part)
        raise IndexError(place)


def join_cases(parts: Sequence[Sequence[Case]]) -> Sequence[Case]:
    """The cases of some datasets as those of one; few are a tuple."""
    if len(parts) == 1:
        return parts[0]
    if any(isinstance(part, KeptCases) for part in parts):
        return JoinedCases(parts)
    return tuple(case for part in parts for case in part)


def shas_of(cases: Sequence[Case]) -> Sequence[bytes]:
    """The `sha` of each case."""
    return cases.shas if isinstance(cases, KeptCases) else [case.sha for case in cases]


def places_of(cases: Sequence[Case]) -> Mapping[str, int]:
    """The place of each case, by its id."""
    if isinstance(cases, KeptCases):
        return cases.places
    return {case.id: place for place, case in enumerate(cases)}
