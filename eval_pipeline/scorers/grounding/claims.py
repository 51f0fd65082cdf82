"""Claims of a sentence that can be looked up word for word: numbers, identifiers and quotations."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from eval_pipeline.scorers.grounding.lexing import IDENTIFIERS, Token, lex
from eval_pipeline.scorers.grounding.numbers import Number, parse_number
from eval_pipeline.scorers.grounding.sentences import SPANS, Sentence

_COMMANDS = frozenset("cat cd cp echo export grep less ls mkdir mv pip pipx rm sudo tail tee".split())
"""Programs every reader knows: an answer that shows how to copy a file need not have `cp` from a page."""
_LITERALS = ("true", "false")
_PLACEHOLDER = re.compile(
    r"<[^<>]*>|\{\w*\}|\[[A-Z_ -]*\]|\.{3}"
    r"|(?<![\w.])(?:FILE|FOLDER|ID|KEY|N|NAME|NUMBER|PATH|URL|VALUE|X+|Y+)(?:\.\w+)?(?![\w.])"
)
_PIECE = re.compile(r"""\"[^\"]*\"|'[^']*'|(?:[^\s=|,;()"'\[\]:]|:(?=\S))+""")
_DESTINATION = re.compile(r"^((?:sudo )?(?:cp|mv)\s.*\S)\s+\S+$")
"""Where a command copies to is the reader's choice."""
_STEPS = frozenset("step option method example section chapter part note tip".split())


@dataclass(frozen=True)
class Claim:
    """One thing a sentence says that the context must say too."""

    kind: Literal["number", "identifier", "quotation"]
    text: str
    """As the answer has it."""
    number: Number | None = None
    before: str = ""
    """The word before it, for a number or a part of a command line."""
    after: str = ""
    """For a number, the word after it."""
    parts: tuple[Claim, ...] = ()
    """What must be found where a command line or setting as a whole is not."""


def extract_claims(sentence: Sentence) -> tuple[Claim, ...]:
    """The claims of one sentence, each once, in order."""
    if sentence.code:
        return tuple(_code(re.sub(r"^(?:[$>%]\s+)|(?:^|\s+)#\s.*$", "", sentence.text)))
    return tuple(dict.fromkeys(_spans_and_prose(sentence.text)))


def _spans_and_prose(text: str) -> Iterator[Claim]:
    for span in SPANS.finditer(text):
        if span["code"] is not None:
            yield from _code(span["code"])
        else:
            quoted = (span["double"] or span["single"]).strip()
            if re.search(r"\w", quoted):
                yield Claim("quotation", quoted)
    prose = SPANS.sub(lambda span: " \u241f " + (". " if span[0][-2] in ".!?" else ""), text)
    tokens = list(lex(prose))
    for token, before, after in zip(tokens, [None, *tokens], [*tokens[1:], None], strict=False):
        if token.kind in IDENTIFIERS or _is_value(token, before):
            yield Claim("identifier", token.text)
        elif token.kind in ("number", "date", "clock"):
            yield from number_claims(token, before, after)


def _is_value(token: Token, before: Token | None) -> bool:
    """Whether a word is glued to the flag or setting before it, as in `--format=csv`."""
    return bool(before and before.text == "=" and before.end == token.start and token.kind == "word")


def number_claims(token: Token, before: Token | None, after: Token | None) -> Iterator[Claim]:
    """The claims a number's token makes: none for the number of a step or for `2nd`."""
    first, then = (neighbour.text.lower() if neighbour else "" for neighbour in (before, after))
    if token.kind != "number":
        yield Claim("number", token.text, Number(token.text), first, then)
    elif first not in _STEPS:
        for number in parse_number(token.text):
            if not number.ordinal:
                yield Claim("number", token.text.lstrip("\u2060"), number, first, then)


def _code(code: str) -> Iterator[Claim]:
    """A claim for inline code or a line of a code block, unless it has nothing but placeholders."""
    code = code.strip().replace("$HOME/", "~/")
    tokens = list(lex(code))
    if len(tokens) == 1 and tokens[0].kind in ("number", "date", "clock"):
        yield from number_claims(tokens[0], None, None)
        return
    parts: list[Claim] = []
    before = ""
    for piece in _PIECE.findall(_PLACEHOLDER.sub(" ", _DESTINATION.sub(r"\1", code))):
        name = piece.strip("\"'").rstrip(".!?<>{}$&:").lstrip("<>{}&!?")
        known = name.lower() in _LITERALS or (name in _COMMANDS and name != code)
        if re.search(r"[^\W_]", name) and not known:
            tokens = list(lex(name))
            if len(tokens) == 1 and tokens[0].kind in ("number", "date", "clock"):
                parts += (replace(claim, before=before) for claim in number_claims(tokens[0], None, None))
            else:
                parts.append(Claim("identifier", name, before=before))
        before = name
    if parts:
        yield Claim("identifier", code, parts=tuple(parts))
