"""An answer's words in code: how many they are, and whether the ones that matter are kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from pydantic import BaseModel, ConfigDict

from eval_pipeline.cases import Case, Known
from eval_pipeline.scorers.structured import lacks_field
from eval_pipeline.scores import Score
from eval_pipeline.traces import AgentTrace


@dataclass(frozen=True)
class ShortAndSpecific:
    """Whether a text has few enough words and keeps every term that its case names, in upper or lower case.

    The value is the share of these demands that it meets, and passes at 1.0 alone. Words are what stands
    between spaces; a term may stand within a word, as `backup` does in `backups`.
    """

    version: ClassVar[int] = 1
    judged: ClassVar[bool] = False

    max_words: int
    field: str | None = None
    """Which field of the structured answer is the text; left out: the answer itself."""

    class Expected(BaseModel):
        """The terms a text must keep; without one only its length is checked."""

        model_config = ConfigDict(extra="forbid")

        keeps: list[str] = []

    def __post_init__(self) -> None:
        """Refuse a limit that nothing meets.

        Raises:
            ValueError: when it is below one.
        """
        if self.max_words < 1:
            raise ValueError(f"max_words: {self.max_words} lets no text pass; use at least 1")

    def problems(self, case: Case, known: Known) -> list[str]:
        """Terms that are blank, and those that stand twice."""
        terms = [term.strip().lower() for term in case.expected.get("keeps") or ()]
        twice = sorted({term for term in terms if terms.count(term) > 1 and term})
        blank = ["expected.keeps: a term is blank; remove it"] if "" in terms else []
        return blank + [f"expected.keeps: {term!r} stands twice; list it once" for term in twice]

    def applies(self, case: Case) -> bool:
        """Always."""
        return True

    def score(self, case: Case, trace: AgentTrace) -> Score:
        """Score one trace, with `details` `words` and `missing`, the terms that are not kept."""
        if self.field is not None and (lacking := lacks_field(trace, self.field)) is not None:
            return lacking
        text = trace.answer or "" if self.field is None else trace.structured[self.field]
        if not isinstance(text, str):
            return Score(0.0, f"{self.field} is {text!r} and no text", passed=False)
        terms = list(case.expected.get("keeps") or ())
        missing = [term for term in terms if term.lower() not in text.lower()]
        words = len(text.split())
        met = (words <= self.max_words) + len(terms) - len(missing)
        value = met / (1 + len(terms))
        reason = f"{words} words of at most {self.max_words}"
        if terms:
            reason += f"; lacks {', '.join(missing)}" if missing else f"; keeps {', '.join(terms)}"
        return Score(value, reason, passed=value == 1, details={"words": words, "missing": missing})
