"""Retrieval by page id: whether the pages a case needs were put before the agent, and how early."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from pydantic import BaseModel, ConfigDict

from eval_pipeline.cases import Case, Known
from eval_pipeline.scores import Score
from eval_pipeline.suggestions import did_you_mean
from eval_pipeline.traces import AgentTrace


@dataclass(frozen=True)
class RetrievalById:
    """Recall, hit and reciprocal rank of the expected pages, at the depth that the agent sees.

    The ranking is the list of page ids that all searches of the trace showed the agent, in that order and
    each id once. The value is recall (expected pages in the ranking ÷ expected pages) and passes at 1.0
    alone. The reciprocal rank is 1 ÷ the place, from 1, of the first expected page in the ranking (Voorhees,
    TREC-8 question answering track, 1999), and 0 without one.
    """

    version: ClassVar[int] = 1
    judged: ClassVar[bool] = False
    metric_labels: ClassVar[Mapping[str, str]] = {
        "hit": "hit@k",
        "recall": "recall@k",
        "reciprocal_rank": "MRR",
    }
    columns: ClassVar[Mapping[str, str]] = {"hit": "hit@k", "recall": "recall@k", "reciprocal_rank": "RR"}

    class Expected(BaseModel):
        """The pages a case needs; without one the check does not apply."""

        model_config = ConfigDict(extra="forbid")

        pages: list[str] = []
        """Page ids, each once."""

    def problems(self, case: Case, known: Known) -> list[str]:
        """Expected pages that do not exist, and those listed twice."""
        listed = Counter(case.expected.get("pages") or ())
        unknown = [
            f"expected.pages: no page {page!r}{did_you_mean(page, known.documents)}"
            for page in sorted(listed)
            if page not in known.documents
        ]
        twice = [
            f"expected.pages: page {page!r} is listed {times} times; list it once"
            for page, times in sorted(listed.items())
            if times > 1
        ]
        return unknown + twice

    def applies(self, case: Case) -> bool:
        """Whether the case needs any page."""
        return bool(case.expected.get("pages"))

    def score(self, case: Case, trace: AgentTrace) -> Score:
        """Score one trace.

        Returns:
            The score, with metrics `hit` and `reciprocal_rank`, and `details` that add the ranking
            (`retrieved`) and the expected pages that are not in it (`missing`, sorted).
        """
        expected = set(case.expected["pages"])
        ranking = list(dict.fromkeys(document.id for document in trace.retrieved))
        missing = sorted(expected.difference(ranking))
        recall = 1 - len(missing) / len(expected)
        places = [place for place, page in enumerate(ranking, start=1) if page in expected]
        reciprocal_rank = 1 / places[0] if places else 0.0
        return Score(
            value=recall,
            reason=_reason(sorted(expected), missing, len(ranking), places),
            passed=not missing,
            metrics={"hit": float(bool(places)), "reciprocal_rank": reciprocal_rank},
            details={
                "hit": bool(places),
                "recall": recall,
                "reciprocal_rank": reciprocal_rank,
                "retrieved": ranking,
                "missing": missing,
            },
        )


def _reason(expected: list[str], missing: list[str], retrieved: int, places: list[int]) -> str:
    if not retrieved:
        return f"the agent fetched no page, though the case needs {', '.join(expected)}"
    if not missing:
        return f"all expected pages retrieved ({', '.join(expected)}), the first at rank {places[0]}"
    found = f"{len(expected) - len(missing)} of {len(expected)} expected pages among {retrieved} retrieved"
    return f"{found}; missing: {', '.join(missing)}"
