"""The check of one answer's sentences against what the tools returned."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from eval_pipeline.scorers.grounding.claims import Claim, extract_claims
from eval_pipeline.scorers.grounding.contradictions import Context
from eval_pipeline.scorers.grounding.declining import declines
from eval_pipeline.scorers.grounding.evidence import Evidence
from eval_pipeline.scorers.grounding.issue_states import read_states, state_contradiction
from eval_pipeline.scorers.grounding.sentences import SPANS, Sentence


@dataclass(frozen=True)
class AnswerCheck:
    """What the sentences of one answer are checked against."""

    evidence: Evidence
    question: str
    echo: Evidence
    """The question as evidence: repeating it invents nothing."""
    context: Context
    states: Mapping[str, bool]
    """Whether each issue is open, by number."""
    items: int
    """Number of list items in the answer."""
    examples: frozenset[str]
    """What the answer puts for a placeholder of the pages, such as the 42 of `restore 42`."""

    @classmethod
    def of(cls, texts: Sequence[str], question: str, sentences: Sequence[Sentence]) -> AnswerCheck:
        """Prepare the check.

        Args:
            texts: What the tools returned.
            question: The case's question.
            sentences: All sentences of the answer.
        """
        evidence = Evidence.of(texts)
        parts = (part for each in sentences for claim in extract_claims(each) for part in claim.parts)
        return cls(
            evidence=evidence,
            question=question,
            echo=Evidence.of([question]),
            context=Context.of(texts),
            states=read_states(texts),
            items=sum(sentence.item for sentence in sentences),
            examples=frozenset(part.text for part in parts if evidence.fills_placeholder(part)),
        )

    def unsupported(self, sentence: Sentence, first: bool) -> list[str]:
        """What of a sentence the tool results lack or turn round: each once, in the sentence's order.

        Args:
            sentence: One sentence of the answer.
            first: Whether it is the first, which may reply to the question with a mere "Yes".
        """
        if declines(sentence.text):
            return []
        found = [part for claim in extract_claims(sentence) for part in self._lacking(claim, sentence)]
        if not sentence.code:
            opposite = self.context.contradiction(sentence.text, self.question if first else "")
            opposite = opposite or state_contradiction(sentence.text, self.states, self.question)
            found += [f"contradicts: {opposite}"] if opposite else []
        return list(dict.fromkeys(found))

    def _lacking(self, claim: Claim, sentence: Sentence) -> list[str]:
        if claim.text in self.examples or self._counts_what_it_lists(claim, sentence):
            return []
        lacking = self.evidence.lacking(claim)
        if not lacking:
            return []
        number = claim.number
        not_asked = self.echo.lacking(replace(claim, number=replace(number, soft=False)) if number else claim)
        if number and number.quantity and not not_asked:
            other = self.context.other_quantity(sentence.text, number.quantity)
            return [f"{claim.text} contradicts: {other}"] if other else []
        return [part for part in lacking if part in not_asked]

    def _counts_what_it_lists(self, claim: Claim, sentence: Sentence) -> bool:
        """Whether a number only says how many names the sentence, or items the answer, goes on to list."""
        if not claim.number or claim.number.quantity:
            return False
        listed = sum(1 for _ in SPANS.finditer(sentence.text))
        return claim.number.value in {str(n) for n in (listed, self.items) if n > 1}
