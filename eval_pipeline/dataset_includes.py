"""Datasets made of another one's cases and their own."""

from __future__ import annotations

from collections.abc import Mapping

from eval_pipeline.cases import CaseFile
from eval_pipeline.errors import CaseError
from eval_pipeline.problems import Problems
from eval_pipeline.suggestions import did_you_mean


def with_included(name: str, files: Mapping[str, CaseFile]) -> list[CaseFile]:
    """The files whose cases make a dataset: those that it includes, then its own.

    Raises:
        CaseError: when there is no such dataset, two include each other, or two cases have one id.
    """
    names = [name]
    while (included := files[names[-1]].includes) is not None:
        where = f"{files[names[-1]].file.where(('includes',))}: includes"
        if included not in files:
            raise CaseError(f"{where}: no dataset {included!r}{did_you_mean(included, files)}")
        if included in names:
            raise CaseError(f"{where}: {included!r} includes this dataset in turn; remove one of the two")
        names.append(included)
    parts = [files[part] for part in reversed(names)]
    if len(parts) == 1:
        return parts
    first: dict[str, str] = {}
    problems = Problems()
    for part in parts:
        for i, case in enumerate(part.cases):
            where = part.file.where(("cases", i, "id"))
            if first.setdefault(case.id, where) != where:
                problems.add(
                    f"{where}: case id {case.id!r} is also that of an included case, at {first[case.id]}; "
                    "rename one"
                )
    problems.raise_any(CaseError)
    return parts
