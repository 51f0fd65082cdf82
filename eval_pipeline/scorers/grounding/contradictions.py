"""Contradictions: a sentence of the answer that turns the best matching sentence of the context round."""

from __future__ import annotations

import dataclasses
import functools
import re
from collections.abc import Sequence, Set
from dataclasses import dataclass

from eval_pipeline.scorers.grounding.lexing import lex
from eval_pipeline.scorers.grounding.numbers import Quantity, parse_number
from eval_pipeline.scorers.grounding.polarity import Key, Statement, read_statement, split_clauses
from eval_pipeline.scorers.grounding.polarity_words import STATES
from eval_pipeline.scorers.grounding.sentences import split_sentences

_NEAR = 0.15
"""A sentence that covers this much less of the answer's words may still be the one meant."""
_STATE_COVERAGE = 0.5
"""Least share of the answer's words that a sentence has which gives a state the other way round."""
_COVERAGE = 2 / 3
"""The same for a sentence that denies what the answer affirms."""
_FLAG = re.compile(r"--?[a-z]")
_TELLING = re.compile(r"[\d/_]|^--|\w\.\w")
"""Words that tell more than others what a sentence speaks of: numbers, flags, paths, file names."""
_SUBJECTLESS = re.compile(r"(?:(?P<reply>yes|no)|it|that|this)\b", re.IGNORECASE)


@dataclass(frozen=True)
class Context:
    """The sentences that a sentence of the answer is compared with."""

    statements: tuple[Statement, ...]

    @classmethod
    def of(cls, texts: Sequence[str]) -> Context:
        """The sentences of these texts."""
        return cls(tuple(statement for text in texts for statement in _statements(text)))

    def contradiction(self, sentence: str, question: str = "") -> str | None:
        """The context's sentence that says the opposite, or None.

        Args:
            sentence: One sentence of the answer.
            question: What a short reply such as "Yes, it is safe." speaks of.
        """
        for clause in split_clauses(sentence):
            statement = read_statement(clause)
            for each in (statement, _with_question(statement, question)):
                if not each.undecided and (found := self._opposite(each)):
                    return found.text
        return None

    def other_quantity(self, sentence: str, quantity: Quantity) -> str | None:
        """The context's sentence that gives another amount where `sentence` repeats one of the question's.

        Only for a sentence that denies nothing: "No, not 60 seconds" repeats the amount rightly.
        """
        statement = read_statement(sentence)
        if statement.undecided or any(sign != 1 for sign in statement.signs.values()):
            return None
        best = max(self.statements, key=lambda other: _coverage(statement, other), default=statement)
        amounts = {amount for amount in _quantities(best.text) if amount[0] == quantity[0]}
        if _coverage(statement, best) < _STATE_COVERAGE or amounts & _quantities(sentence):
            return None
        return best.text if amounts else None

    def _opposite(self, statement: Statement) -> Statement | None:
        """The sentence that says the opposite, unless one that is as near says the same."""
        covered = [(_coverage(statement, other), other) for other in self.statements]
        best = max((share for share, _ in covered), default=0.0)
        opposites: list[Statement] = []
        turned_round: set[Key] = set()
        agreeing: list[Statement] = []
        for share, other in covered:
            if not share or share < best - _NEAR:
                continue
            turned = _turned(statement, other)
            if turned is None or len(turned) % 2 == 0:
                agreeing.append(other)
            elif _comparable(statement, other, turned, share):
                opposites.append(other)
                turned_round |= turned
        agreed = any(turned_round & other.signs.keys() for other in agreeing)
        return opposites[0] if opposites and not agreed else None


def _turned(one: Statement, other: Statement) -> set[Key] | None:
    """What one affirms and the other denies; None where that cannot be told.

    Two negations of shared words undo each other, so an even number of them contradicts nothing.
    """
    if other.undecided:
        return None
    turned = set()
    for key in one.signs.keys() & other.signs.keys():
        signs = {one.signs[key], other.signs[key]}
        if len(signs) == 2:
            if 0 in signs or key in one.conditional or key in other.conditional:
                return None
            turned.add(key)
    return turned


def _coverage(one: Statement, other: Statement) -> float:
    """Share of one's words that the other has."""
    return len(one.words & other.words) / len(one.words) if one.words else 0.0


def _comparable(one: Statement, other: Statement, turned: Set[Key], share: float) -> bool:
    """Whether two sentences are so alike that what is turned round contradicts."""
    alone = one.words - other.words
    if any(re.match(r"-?\d", word) for word in alone):
        return False  # it speaks of another number, and may deny just that
    if _names_other_flag(one, other) or _has_unshared_mark(one, other, turned):
        return False
    words = {word for kind, word in turned if kind == "word"}
    common = (one.words & other.words) - words
    weight = sum(2 if _TELLING.search(word) else 1 for word in common)
    if len(words) < len(turned):  # an order or bound is turned round
        return weight >= 2 and all(_TELLING.search(word) for word in alone)
    if words <= STATES:
        return weight >= 1 and share >= _STATE_COVERAGE
    return weight >= 2 and share >= _COVERAGE


def _names_other_flag(one: Statement, other: Statement) -> bool:
    flags, others = ({word for word in each.words if _FLAG.match(word)} for each in (one, other))
    return bool(flags - others and others - flags)


def _has_unshared_mark(one: Statement, other: Statement, turned: Set[Key]) -> bool:
    """Whether beside what is turned round a clause has a polarity that the other sentence lacks."""
    for each, against in ((one, other), (other, one)):
        clauses = {each.clauses[key] for key in turned}
        if any(each.clauses[key] in clauses and key not in against.signs for key in each.marked):
            return True
    return False


def _with_question(statement: Statement, question: str) -> Statement:
    """The statement; a short reply without a subject of its own takes the question's."""
    short = _SUBJECTLESS.match(statement.text)
    if not short or not question or len(statement.words) > 2:
        return statement
    asked = read_statement(question.rstrip("? "))
    if asked.undecided or re.search(r"\bor\b", question) or any(sign != 1 for sign in asked.signs.values()):
        return statement
    signs = {**asked.signs, **statement.signs}
    if not statement.words:
        states = [key for key in asked.signs if key[1] in STATES]
        if not short["reply"] or len(states) != 1:
            return statement
        signs[states[0]] = 1 if short["reply"].lower() == "yes" else -1
    return dataclasses.replace(
        statement,
        signs=signs,
        words=asked.words | statement.words,
        clauses={**asked.clauses, **statement.clauses},
        marked=asked.marked | statement.marked,
    )


def _quantities(text: str) -> set[Quantity]:
    numbers = (number for token in lex(text) if token.kind == "number" for number in parse_number(token.text))
    return {number.quantity for number in numbers if number.quantity}


@functools.lru_cache(maxsize=512)
def _statements(text: str) -> tuple[Statement, ...]:
    return tuple(read_statement(sentence.text) for sentence in split_sentences(text) if not sentence.code)
