"""Whether the document that a case expects was put before the agent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from pydantic import BaseModel, ConfigDict

from eval_pipeline.cases import Case, Known
from eval_pipeline.scores import Score
from eval_pipeline.suggestions import did_you_mean
from eval_pipeline.traces import AgentTrace


@dataclass(frozen=True)
class Source:
    """1.0 when the expected document is among those retrieved; `retrieval:RetrievalById` takes several."""

    version: ClassVar[int] = 1
    judged: ClassVar[bool] = False

    class Expected(BaseModel):
        """The document a case expects; null, or left out, the check does not apply."""

        model_config = ConfigDict(extra="forbid")

        source: str | None = None
        """A document's id, which is its file's name without the ending."""

    def problems(self, case: Case, known: Known) -> list[str]:
        """An expected document that does not exist."""
        source = case.expected.get("source")
        if source is None or source in known.documents:
            return []
        return [f"expected.source: no document {source!r}{did_you_mean(source, sorted(known.documents))}"]

    def applies(self, case: Case) -> bool:
        """Whether the case expects a document."""
        return case.expected.get("source") is not None

    def score(self, case: Case, trace: AgentTrace) -> Score:
        """Score one trace, with `details` `retrieved`: the ids in the order seen, each once."""
        source: str = case.expected["source"]
        retrieved = list(dict.fromkeys(document.id for document in trace.retrieved))
        passed = source in retrieved
        shown = ", ".join(retrieved) or "nothing"
        reason = f"{source} was retrieved" if passed else f"{source} expected, {shown} retrieved"
        return Score(float(passed), reason, details={"retrieved": retrieved})
