"""One text of the tool results, indexed so that a claim is looked up quickly."""

from __future__ import annotations

import functools
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from eval_pipeline.scorers.grounding.lexing import IDENTIFIERS, Token, compact, lex
from eval_pipeline.scorers.grounding.numbers import Quantity, parse_number
from eval_pipeline.scorers.grounding.sentences import SPANS, plain
from eval_pipeline.scorers.grounding.stems import stem

_RANK = re.compile(r"^\s*\[\d{1,2}\]\s", re.MULTILINE)
_TEMPLATE = re.compile(r"([\w-]+)[ =](?:<[^<>]+>|[A-Z]+)(\.\w+)?(?![\w.-])")
_REFERENCE = re.compile(r"(?:issue|bug|pr|gh|ticket)-?(\d+)", re.IGNORECASE)
_NO_NOUNS = frozenset("of or and to more is are in at for other different".split())


@dataclass(frozen=True)
class TextIndex:
    """One text's numbers, and its words as they are looked up."""

    flat: str
    """The text with single spaces and without quotes and backticks."""
    lower: str
    """`flat` without case."""
    numbers: frozenset[str]
    bare: frozenset[str]
    """Numbers that stand without a unit somewhere."""
    quantities: frozenset[Quantity]
    names: frozenset[str]
    """Names that hold a number, and each word with the number after it, made compact."""
    templates: frozenset[tuple[str, str]]
    """Each word that code has before a placeholder, with the placeholder's extension: `import FILE.csv`."""
    counts: Mapping[str, frozenset[str]]
    """The numbers that stand before a noun, by its stem."""


@functools.lru_cache(maxsize=512)
def index_text(text: str) -> TextIndex:
    """Index one text; pages return in case after case, so the latest are kept."""
    text = _RANK.sub("", text)
    tokens = list(lex(plain(text)))
    numbers: set[str] = set()
    bare: set[str] = set()
    quantities: set[Quantity] = set()
    names = {compact(token.text) for token in tokens if token.kind == "name"}
    counts: dict[str, set[str]] = defaultdict(set)
    for before, token, after in zip([None, *tokens], tokens, [*tokens[1:], None], strict=False):
        if token.kind != "number":
            numbers.update(_numbers_inside(token))
            continue
        for number in parse_number(token.text):
            numbers.add(number.value)
            if number.quantity:
                quantities.add(number.quantity)
            else:
                bare.add(number.value)
            if before:
                names.add(compact(before.text + number.value))
            if after and after.kind == "word" and after.text not in _NO_NOUNS:
                counts[stem(after.text)].add(number.value)
    flat = flatten(text)
    return TextIndex(
        flat=flat,
        lower=flat.casefold(),
        numbers=frozenset(numbers),
        bare=frozenset(bare),
        quantities=frozenset(quantities),
        names=frozenset(names),
        templates=frozenset(_templates(text)),
        counts={noun: frozenset(found) for noun, found in counts.items()},
    )


def flatten(text: str) -> str:
    """`text` as one line without quotes, backticks and stars."""
    without_apostrophes = re.sub(r"(?<=\w)'(?=\w)", "", plain(text))
    return re.sub(r"[\s`\"'*]+", " ", without_apostrophes).strip()


def _numbers_inside(token: Token) -> list[str]:
    """Numbers of a date, a URL's path (`/issues/231`) and a name such as `issue-231`; of no other name."""
    if token.kind == "date":
        return [token.text, *(str(int(part)) for part in token.text.split("-"))]
    if token.kind == "clock":
        return [token.text]
    if token.kind == "name":
        return _REFERENCE.findall(token.text) if _REFERENCE.fullmatch(token.text) else []
    return re.findall(r"(?<=/)\d+\b", token.text) if token.kind in IDENTIFIERS else []


def _templates(text: str) -> Iterator[tuple[str, str]]:
    for span in SPANS.finditer(plain(text)):
        for before, extension in _TEMPLATE.findall(span["code"] or ""):
            yield before.casefold(), extension
