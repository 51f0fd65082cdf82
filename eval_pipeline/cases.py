"""A case: one input with its expectations; a dataset file is a versioned list of them."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Annotated, Any, overload

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from eval_pipeline.content_hash import canonical_json
from eval_pipeline.yaml_data import YamlFile


@dataclass(frozen=True)
class Case:
    """One input of the system under test, with what is expected of the answer."""

    id: str
    input: Any
    """A question in words, or plain JSON for a system that takes more."""
    reference: str | None = None
    """A good answer, for scorers that compare with one."""
    expected: Mapping[str, Any] = field(default_factory=dict)
    """What the suite's scorers check, by the keys they declare; a key left out has its scorer's default."""
    left_out: frozenset[str] = field(default=frozenset(), compare=False)
    """Keys of `expected` that the file does not write: no part of the content, so that a further stage
    leaves every key as it is."""

    @property
    def question(self) -> str:
        """The input in words; JSON where it is more than a question."""
        if isinstance(self.input, str):
            return self.input
        return json.dumps(self.input, ensure_ascii=False, sort_keys=True)

    @property
    def asked(self) -> Case:
        """The case as the system gets it: without what is expected of its answer."""
        return Case(self.id, self.input)

    @property
    def sha(self) -> bytes:
        """Digest of all that systems and scorers see of it, defaults of `expected` included."""
        return sha256(canonical_json([self.id, self.input, self.reference, dict(self.expected)])).digest()

    def content(self) -> dict[str, Any]:
        """All of the case as plain JSON, for the hash of its dataset."""
        written = {key: value for key, value in self.expected.items() if key not in self.left_out}
        return {
            "id": self.id,
            "input": self.input,
            "reference": self.reference,
            "expected": written,
        }


@dataclass(frozen=True)
class Run:
    """One run of the system: a case, in one of its repeats."""

    case: Case
    repeat: int = 0
    """Counted from 0."""

    @property
    def key(self) -> tuple[str, int]:
        """What tells it from the other runs of a cell: the case's id and the repeat."""
        return self.case.id, self.repeat


class Runs(Sequence[Run]):
    """Every case in every repeat: in the order of the cases, repeat after repeat."""

    def __init__(self, cases: Sequence[Case], repeats: int) -> None:
        self._cases = cases
        self._repeats = repeats

    def __len__(self) -> int:
        return len(self._cases) * self._repeats

    def __iter__(self) -> Iterator[Run]:
        """All runs."""
        return (Run(case, repeat) for case in self._cases for repeat in range(self._repeats))

    @overload
    def __getitem__(self, place: int) -> Run: ...
    @overload
    def __getitem__(self, place: slice) -> list[Run]: ...
    def __getitem__(self, place: int | slice) -> Run | list[Run]:
        """A run, or some of them."""
        if isinstance(place, slice):
            places = range(*place.indices(len(self)))
            if places.step == 1 and self._repeats == 1:
                return [Run(case) for case in self._cases[places.start : places.stop]]
            return [self[i] for i in places]
        if not -len(self) <= place < len(self):
            raise IndexError(place)
        case, repeat = divmod(place % len(self), self._repeats)
        return Run(self._cases[case], repeat)


MOST_REPEATS = 100
"""Repeats of a case that a suite or dataset may ask for."""
Repeats = Annotated[int, Field(ge=1, le=MOST_REPEATS)]
"""How often each case is run."""


@dataclass(frozen=True)
class Known:
    """What a case's expectations may refer to."""

    documents: frozenset[str] = frozenset()
    tools: frozenset[str] = frozenset()


class CaseFields(BaseModel):
    """One entry of `cases:` as written; suites narrow `expected` to the keys their scorers declare."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str
    input: JsonValue
    reference: str | None = None
    expected: BaseModel | None = None


class DatasetFields(BaseModel):
    """A dataset file as written."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    version: int = Field(ge=1)
    includes: str | None = None
    """Name of another dataset of the suite, whose cases come before its own."""
    documents: str = "documents"
    """Folder of the pages the system reads, inside the suite's folder."""
    fixtures: str = "fixtures"
    """Folder of the tables its tools read, inside the suite's folder."""
    repeats: Repeats | None = None
    """Left out: the suite's."""
    cases: list[CaseFields]


@dataclass(frozen=True)
class CaseFile:
    """A dataset file, read and validated: its cases, and where everything stands."""

    file: YamlFile
    version: int
    includes: str | None
    documents: str
    fixtures: str
    repeats: int | None
    cases: Sequence[Case]
    """Its own."""


def make_cases(parsed: DatasetFields) -> tuple[Case, ...]:
    """The cases of a validated file, or of a part of one."""
    return tuple(_case(entry) for entry in parsed.cases)


def _case(entry: CaseFields) -> Case:
    expected: dict[str, Any] = {} if entry.expected is None else entry.expected.model_dump(mode="json")
    written = frozenset() if entry.expected is None else entry.expected.model_fields_set
    return Case(entry.id, entry.input, entry.reference, expected, frozenset(expected) - written)


def id_problems(file: YamlFile, parsed: DatasetFields) -> list[str]:
    """Ids that cannot be used, or stand twice."""
    problems: list[str] = []
    first: dict[str, int] = {}
    for i, entry in enumerate(parsed.cases):
        if fault := id_fault(entry.id):
            problems.append(f"{file.where(('cases', i, 'id'))}: case id {entry.id!r} {fault}")
        if first.setdefault(entry.id, i) != i:
            problems.append(
                f"{file.where(('cases', i, 'id'))}: duplicate case id {entry.id!r}, first at "
                f"{file.where(('cases', first[entry.id], 'id'))}; ids must be unique within a dataset"
            )
    return problems


def id_fault(case_id: str) -> str | None:
    """What makes a case id unusable, or None; everything else is kept as written, everywhere."""
    if not case_id:
        return "is empty; give it a short name"
    if holds_control(case_id):
        return "holds a control character; remove it"
    if case_id != case_id.strip():
        return "begins or ends with a space; remove it"
    if "::" in case_id:
        return "holds '::', which separates the parts of a test id; use another sign"
    return None


def holds_control(text: str) -> bool:
    """Whether a sign of `text` is no sign to show: a control character, a line end, half a surrogate pair."""
    if text.isascii() and text.isprintable():
        return False
    return any(unicodedata.category(sign) in ("Cc", "Cs", "Zl", "Zp") for sign in text)
