"""Polarity: which words of a sentence it affirms, and which it denies or puts as their opposite."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from eval_pipeline.scorers.grounding.lexing import Token, lex
from eval_pipeline.scorers.grounding.numbers import SOFT, digits_for_words, parse_number
from eval_pipeline.scorers.grounding.polarity_words import (
    CONDITIONS,
    LEXICON,
    NEGATORS,
    RELATIONS,
    STOP_WORDS,
    mark_phrases,
    without_reply,
)
from eval_pipeline.scorers.grounding.sentences import SPANS
from eval_pipeline.scorers.grounding.stems import stem

Key = tuple[str, str]
"""What a sign belongs to: ("word", stem), or a relation such as ("order", "2.4.1")."""

_CUT = re.compile(
    r";\s|:\s|\s-\s|,\s(?:and|but|so|because|although|though|while|which|then|or)\s"
    r"|\s(?:but|because|although|though|whereas)\s"
)

_PRONOUN = re.compile(r"(?:it|they|this|that|these|those|he|she)\b", re.IGNORECASE)


@dataclass(frozen=True)
class Statement:
    """The content words of one sentence, each affirmed (1), denied (-1) or undecided (0)."""

    text: str
    signs: Mapping[Key, int]
    """Signs of its words, and of before or after what, at most or at least how many it says."""
    words: frozenset[str]
    clauses: Mapping[Key, int]
    """The number of the clause that each stands in."""
    marked: frozenset[Key] = frozenset()
    """Those that bear a polarity of their own: opposites, what is denied, and relations."""
    conditional: frozenset[Key] = frozenset()
    """Those of a subordinate clause, such as one with "if" or "whether", which asserts nothing."""
    undecided: bool = False
    """Whether it asks, says "again", or denies something that it leaves out, as in "it isn't"."""


@functools.lru_cache(maxsize=4096)
def read_statement(text: str) -> Statement:
    """Read the polarity of one sentence."""
    reader = _Reader()
    rest, place = without_reply(text), 0
    for span in SPANS.finditer(rest):
        reader.read_prose(rest[place : span.start()])
        reader.read_span(span["code"] or span["double"] or span["single"])
        place = span.end()
    reader.read_prose(rest[place:])
    return reader.statement(text)


def split_clauses(sentence: str) -> Iterator[str]:
    """The sentence itself, then those of several main clauses that name what they speak of."""
    yield sentence
    masked = SPANS.sub(lambda span: "x" * len(span[0]), sentence)
    cuts = [(cut.start(), cut.end()) for cut in _CUT.finditer(masked)]
    if cuts:
        starts = [0, *(end for _, end in cuts)]
        ends = [*(start for start, _ in cuts), len(sentence)]
        clauses = (sentence[start:end].strip() for start, end in zip(starts, ends, strict=True))
        yield from (clause for clause in clauses if not _PRONOUN.match(clause))


class _Reader:
    """Reads one sentence from left to right."""

    def __init__(self) -> None:
        self._signs: dict[Key, int] = {}
        self._clauses: dict[Key, int] = {}
        self._marked: set[Key] = set()
        self._conditional: set[Key] = set()
        self._undecided = False
        self._negation = 1
        """What the next content word's sign is multiplied by; 0 leaves it undecided."""
        self._clause = 0
        self._condition = False
        self._relation: tuple[str, int] | None = None

    def statement(self, text: str) -> Statement:
        return Statement(
            text,
            self._signs,
            frozenset(word for kind, word in self._signs if kind == "word"),
            self._clauses,
            frozenset(self._marked),
            frozenset(self._conditional),
            self._undecided or self._negation != 1 or text.endswith("?"),
        )

    def read_span(self, text: str) -> None:
        """Code or a quotation: its words are names, even `never`, but for `true` and `false`."""
        for token in lex(text):
            word = stem(token.text)
            if token.text.lower() in ("true", "false"):
                self._add_word(token)
            elif token.kind != "mark":
                opaque = word in LEXICON or word in NEGATORS or word in STOP_WORDS
                self._add(f"={word}" if opaque else _key(token), 1)

    def read_prose(self, text: str) -> None:
        """The words outside code and quotations."""
        for token in lex(mark_phrases(digits_for_words(text))):
            word = token.text.lower()
            if word in CONDITIONS:
                self._condition = True
                self._clause += 1
            self._undecided = self._undecided or word == "again"
            if token.kind == "mark" or word in ("but", "yet"):
                if word not in "'\"#@&+*/~<>":
                    self._end_clause()
            elif word in RELATIONS:
                self._relation = RELATIONS[word]
            elif word in NEGATORS:
                self._negation *= -1
            elif word in ("no", "_partly"):
                self._negation = 0
            elif not self._skips(token, word):
                self._add_word(token)

    def _skips(self, token: Token, word: str) -> bool:
        if word in STOP_WORDS or SOFT in word:
            return True
        return self._negation != 1 and token.kind == "word" and word.endswith("ly")

    def _add_word(self, token: Token) -> None:
        concept, sign = LEXICON.get(stem(token.text), ("", 1))
        self._add(concept or _key(token), sign, marked=bool(concept))

    def _add(self, word: str, sign: int, marked: bool = False) -> None:
        self._set(("word", word), sign * self._negation, marked or self._negation != 1)
        self._negation = 1
        if self._relation:
            kind, side = self._relation
            self._set((kind, word), side, marked=True)
            self._relation = None

    def _set(self, key: Key, sign: int, marked: bool) -> None:
        self._signs[key] = sign if self._signs.get(key, sign) == sign else 0
        self._clauses[key] = self._clause
        if marked:
            self._marked.add(key)
        if self._condition:
            self._conditional.add(key)

    def _end_clause(self) -> None:
        self._undecided = self._undecided or self._negation != 1
        self._negation = 1
        self._clause += 1
        self._condition = False
        self._relation = None


def _key(token: Token) -> str:
    if token.kind == "number":
        numbers = parse_number(token.text)
        return numbers[-1].value if numbers else token.text
    return stem(token.text) if token.kind in ("word", "name") else token.text.casefold()
