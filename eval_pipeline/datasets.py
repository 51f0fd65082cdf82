"""A dataset: a versioned set of cases with what the system reads beside them, and the hashes of each part."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from eval_pipeline.cases import Case, Run, Runs
from eval_pipeline.content_hash import ListHash, content_hash
from eval_pipeline.documents import Document
from eval_pipeline.kept_cases import places_of, shas_of
from eval_pipeline.windows import windows


@dataclass(frozen=True)
class Dataset:
    """A versioned set of cases, with the documents and fixtures the system reads."""

    name: str
    version: int
    cases: Sequence[Case]
    documents: tuple[Document, ...]
    fixtures: Mapping[str, Any]
    repeats: int = 1
    """How often each case is run; no part of the key, which says what is asked and not how often."""

    @cached_property
    def runs(self) -> Sequence[Run]:
        """Every case in every repeat: in the order of the cases, repeat after repeat."""
        return Runs(self.cases, self.repeats)

    def case(self, case_id: str) -> Case:
        """The case of that id.

        Raises:
            KeyError: when there is none.
        """
        return self.cases[self.places[case_id]]

    def cases_at(self, places: Iterable[int]) -> Mapping[int, Case]:
        """The cases at these places, by place; where they lie close together, they are read at once."""
        wanted = sorted(set(places))
        if wanted and wanted[-1] - wanted[0] < 2 * len(wanted):
            near = self.cases[wanted[0] : wanted[-1] + 1]
            return {place: near[place - wanted[0]] for place in wanted}
        return {place: self.cases[place] for place in wanted}

    @cached_property
    def places(self) -> Mapping[str, int]:
        """The place of each case among them, by its id."""
        return places_of(self.cases)

    @cached_property
    def case_shas(self) -> Sequence[bytes]:
        """The `sha` of each case."""
        return shas_of(self.cases)

    @property
    def run_keys(self) -> Iterator[tuple[str, int]]:
        """The key of each run, in the order of the runs."""
        return ((case_id, repeat) for case_id in self.places for repeat in range(self.repeats))

    @cached_property
    def cases_sha(self) -> str:
        """Hash of the cases alone; their order in the file is no part of it."""
        whole = ListHash()
        for case_ids in windows(sorted(self.places)):
            whole.add([self.case(case_id).content() for case_id in case_ids])
        return whole.hexdigest()

    @cached_property
    def docs_sha(self) -> str:
        """Hash of the documents alone."""
        return content_hash({document.id: document.text for document in self.documents})

    @cached_property
    def fixtures_sha(self) -> str:
        """Hash of the fixtures alone."""
        return content_hash(self.fixtures)

    @cached_property
    def sha(self) -> str:
        """Hash of everything in it."""
        return content_hash([self.cases_sha, self.docs_sha, self.fixtures_sha])
