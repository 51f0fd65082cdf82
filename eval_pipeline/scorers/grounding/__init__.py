"""Grounding without a judge: whether the answer's checkable claims stand in what the tools returned."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict

from eval_pipeline.cases import Case, Known
from eval_pipeline.errors import ScorerError
from eval_pipeline.scorers.grounding.answer_check import AnswerCheck
from eval_pipeline.scorers.grounding.claims import extract_claims
from eval_pipeline.scorers.grounding.declining import declines
from eval_pipeline.scorers.grounding.sentences import Sentence, split_sentences, without_citations
from eval_pipeline.scorers.tools import unknown_tools
from eval_pipeline.scores import Score
from eval_pipeline.traces import AgentTrace

_OFTEN_HELD = 40
"""Characters from which a text that another one holds is left out: a page in its search's results."""


@dataclass(frozen=True)
class Grounding:
    """The share of the answer's sentences whose numbers, names and quotations the tool results have.

    A sentence that turns a sentence of the tool results round ("safe" where that says "not safe") is not
    supported either. What the question itself says may be repeated. `docs/grounding.md` says what the check
    sees and what it cannot.
    """

    version: ClassVar[int] = 1
    judged: ClassVar[bool] = False

    class Expected(BaseModel):
        """The tools a case expects: an answer is grounded in their results."""

        model_config = ConfigDict(extra="forbid")

        tools: list[str] | None = None
        """Tool names; without one the check does not apply."""

    def problems(self, case: Case, known: Known) -> list[str]:
        """Expected tools that the system does not have."""
        return unknown_tools(case, known)

    def applies(self, case: Case) -> bool:
        """Whether the case expects a tool call, and so an answer from its result."""
        return bool(case.expected.get("tools"))

    def score(self, case: Case, trace: AgentTrace) -> Score:
        """Score one trace.

        Returns:
            The score, with `details` `sentences` (those that lack support: `text`, and what is
            `unsupported`, in the answer's order) and `declined` (whether the answer says that the tool
            results do not tell).

        Raises:
            ScorerError: when the answer is blank.
        """
        answer = trace.answer or ""
        sentences = [s for s in split_sentences(without_citations(answer)) if re.search(r"\w", s.text)]
        if not sentences:
            raise ScorerError(
                "Grounding", f"the answer {answer[:60]!r} has no words, so nothing can be checked"
            )
        texts = _tool_results(trace)
        if not texts:
            reason = "the agent fetched nothing, so nothing supports its answer"
            return Score(0.0, reason, passed=False, details={"sentences": [], "declined": False})
        check = AnswerCheck.of(texts, case.question, sentences)
        lacking = []
        for number, sentence in enumerate(sentences):
            if unsupported := check.unsupported(sentence, first=number == 0):
                lacking.append({"text": sentence.text, "unsupported": unsupported})
        declined = _declines(sentences)
        return Score(
            value=1 - len(lacking) / len(sentences),
            reason=_reason(lacking, sentences, declined),
            details={"sentences": lacking, "declined": declined},
        )


def _tool_results(trace: AgentTrace) -> list[str]:
    """All that the tools showed the agent, page ids included, each text once."""
    texts = [*trace.context, *(call.output for call in trace.tool_calls)]
    texts += [text for document in trace.retrieved for text in (document.text, document.id)]
    kept: list[str] = []
    for text in sorted({text.strip() for text in texts} - {""}, key=lambda text: (-len(text), text)):
        if len(text) < _OFTEN_HELD or not any(text in longer for longer in kept):
            kept.append(text)
    return kept


def _declines(sentences: Sequence[Sentence]) -> bool:
    """Whether the answer begins by saying that the results do not tell, or claims nothing beside that."""
    declining = [declines(sentence.text) for sentence in sentences]
    return declining[0] or (
        any(declining)
        and all(
            declined or not extract_claims(sentence)
            for declined, sentence in zip(declining, sentences, strict=True)
        )
    )


def _reason(lacking: Sequence[dict[str, Any]], sentences: Sequence[Sentence], declined: bool) -> str:
    if lacking:
        verb = "lacks" if len(lacking) == 1 else "lack"
        first = "; ".join(lacking[0]["unsupported"])
        return f"{len(lacking)} of {len(sentences)} sentences {verb} support, the first: {first}"
    if declined:
        return "the answer says that the tool results do not tell"
    if not any(extract_claims(sentence) for sentence in sentences):
        return "the answer makes no claim that can be looked up"
    return f"the tool results support every sentence ({len(sentences)} of {len(sentences)})"
