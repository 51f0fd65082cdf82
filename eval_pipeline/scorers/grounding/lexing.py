"""Tokens of a sentence: numbers, flags, paths, names and plain words, the same for answer and context."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from eval_pipeline.scorers.grounding.numbers import NUMBER, digits_for_words

Kind = Literal["url", "flag", "path", "file", "date", "clock", "number", "name", "word", "mark"]
IDENTIFIERS: frozenset[Kind] = frozenset(("url", "flag", "path", "file", "name"))

_EXTENSIONS = "|".join(
    """
    db-wal db-shm db-journal bak cfg conf config crt css csv db dmg env exe gz html ini ipynb jpg js json
    jsonl key lock log md mdx out parquet pdf pem pid png ps1 py rb rs rst sh sock sql sqlite sqlite3 sum svg
    tar toml ts tsv txt wal whl xlsx xml yaml yml zip zsh
    """.split()
)
_PATH = r"(?:[\w@%+~-]|\.(?=[\w./]))+"
_TOKEN = re.compile(
    rf"""
    (?P<url>https?://[^\s<>"'`)\]]*[^\s<>"'`)\].,;:!?])
    | (?P<path>(?<![\w./~-])(?:~|\.\.?|\$\w+|[A-Za-z]:)?/{_PATH}(?:/{_PATH})*/?
        | (?<![\w./~-])(?:\.?[\w-]+/)+(?:[\w-]+\.)+(?:{_EXTENSIONS})\b)
    | (?P<flag>(?<![\w.-])(?:--[A-Za-z][\w-]*\w|-[A-Za-z](?![\w-])))
    | (?P<file>(?<![\w.])(?:[\w-]+\.)+(?:{_EXTENSIONS})(?!\w|\.\w|-\w) | (?<![\w./])\.[A-Za-z][\w-]+)
    | (?P<date>(?<![\w.-])\d{{4}}-\d\d-\d\d(?!\d))
    | (?P<clock>(?<![\w.:])\d\d?:\d\d(?::\d\d)?(?![\w:]))
    | (?P<number>{NUMBER})
    | (?P<word>\w+(?:['-]\w+)*)
    | (?P<mark>[^\w\s])
    """,
    re.VERBOSE | re.IGNORECASE,
)
_NAME = re.compile(
    r"(?=\w*[A-Za-z])\w*_\w+"  # snake_case
    r"|[a-z]{2,}[A-Z][a-z]\w*"  # camelCase; not macOS or iPhone
    r"|(?=\D*\d)(?=[\d-]*[A-Za-z])\w+(?:-\w*\d\w*)?"  # sha256, utf-8
)


@dataclass(frozen=True)
class Token:
    """One token, with its place in the text it was found in."""

    kind: Kind
    text: str
    start: int
    end: int


def lex(text: str) -> Iterator[Token]:
    """The tokens of a plain text, numbers in words as digits; white space separates and is left out."""
    for match in _TOKEN.finditer(digits_for_words(text)):
        kind = match.lastgroup
        word = match[0]
        if kind == "word" and _NAME.fullmatch(word):
            kind = "name"
        yield Token(kind, word, match.start(), match.end())  # type: ignore[arg-type]


def compact(word: str) -> str:
    """A name without case, dashes and spaces, so that `UTF-8`, `utf8` and `utf 8` are one."""
    return re.sub(r"[\s_-]", "", word).casefold()
