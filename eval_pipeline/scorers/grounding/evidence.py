"""Evidence: what the tools showed the agent, and whether it has what a claim says."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable
from dataclasses import dataclass

from eval_pipeline.scorers.grounding.claims import Claim
from eval_pipeline.scorers.grounding.lexing import compact
from eval_pipeline.scorers.grounding.numbers import Number
from eval_pipeline.scorers.grounding.stems import stem
from eval_pipeline.scorers.grounding.text_index import TextIndex, flatten, index_text

_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()
_TRAILING = " .,;:!?"


@dataclass(frozen=True)
class Evidence:
    """Several texts as one body of evidence."""

    texts: tuple[TextIndex, ...]

    @classmethod
    def of(cls, texts: Iterable[str]) -> Evidence:
        """Evidence of these texts."""
        return cls(tuple(index_text(text) for text in texts))

    def lacking(self, claim: Claim) -> list[str]:
        """The parts of the claim that no text has; empty when it is supported."""
        if self.fills_placeholder(claim):
            return []
        if claim.kind == "number":
            return [] if claim.number and self._has_number(claim, claim.number) else [claim.text]
        if claim.kind == "quotation":
            return [] if self._has_quotation(claim.text) else [f'"{claim.text}"']
        if self._has_name(claim.text):
            return []
        if claim.parts and [part.text for part in claim.parts] != [claim.text]:
            return [lacking for part in claim.parts for lacking in self.lacking(part)]
        return [] if self._has_parts_of_path(claim.text) else [claim.text]

    def fills_placeholder(self, claim: Claim) -> bool:
        """Whether the texts leave this part of a command line to the reader, as in `restore ID`."""
        return any(
            before == claim.before.casefold() and claim.text.endswith(extension)
            for text in self.texts
            for before, extension in text.templates
        )

    def _has_number(self, claim: Claim, number: Number) -> bool:
        if number.soft:
            return not self._counts_otherwise(number, claim.after)
        if number.quantity:
            return any(number.quantity in text.quantities or number.value in text.bare for text in self.texts)
        if number.value.endswith(".x"):
            stock = number.value[:-1]
            return any(value.startswith(stock) for text in self.texts for value in text.numbers)
        named = compact(claim.before + number.value) if claim.before else ""
        if any(number.value in text.numbers or named in text.names for text in self.texts):
            return True
        return self._has_date(number.value)

    def _counts_otherwise(self, number: Number, noun: str) -> bool:
        """Whether the texts count these things, and never come to this number."""
        if number.value in ("0", "1") or not noun:
            return False
        counted = any(stem(noun) in text.counts for text in self.texts)
        return counted and not any(number.value in text.numbers for text in self.texts)

    def _has_date(self, value: str) -> bool:
        """Whether one text has a date like 2024-01-05 in other words."""
        date = re.fullmatch(r"(\d{4})-(\d\d)-(\d\d)", value)
        if not date or not 1 <= int(date[2]) <= 12:
            return False
        wanted = {date[1], str(int(date[3]))}
        month = re.compile(rf"\b{_MONTHS[int(date[2]) - 1]}")
        return any(wanted <= text.numbers and month.search(text.lower) for text in self.texts)

    def _has_quotation(self, quoted: str) -> bool:
        pieces = (flatten(piece).strip(_TRAILING) for piece in quoted.split("..."))
        return all(self._occurs(piece) for piece in pieces if piece)

    def _has_name(self, name: str) -> bool:
        flat = flatten(name)
        if self._occurs(flat.rstrip(_TRAILING) if flat.startswith(".") else flat.strip(_TRAILING)):
            return True
        if call := re.fullmatch(r"([\w.]+)\(\)", name):
            return self._occurs(call[1])
        return bool(re.search(r"\d", name)) and any(compact(name) in text.names for text in self.texts)

    def _has_parts_of_path(self, path: str) -> bool:
        """Whether a path joins two that the texts have, as `~/.tracker/tasks.db` does."""
        path = path.rstrip("/")
        cuts = [i for i, sign in enumerate(path) if sign == "/" and i]
        return self._occurs(path) or any(self._occurs(path[:i]) and self._occurs(path[i + 1 :]) for i in cuts)

    def _occurs(self, words: str) -> bool:
        """Whether the words stand in a text, and not as part of a longer name, version or flag."""
        if re.fullmatch(r"-[A-Za-z]", words):  # of these, case tells one from the other
            return any(_occurrence(words).search(text.flat) for text in self.texts)
        key = words.casefold()
        return any(key in text.lower and _occurrence(key).search(text.lower) for text in self.texts)


@functools.lru_cache(maxsize=4096)
def _occurrence(words: str) -> re.Pattern[str]:
    begins_with_word = re.match(r"[^\W\d_]+( |$)", words)
    ends_with_word = re.search(r"(^| )[^\W\d_]+$", words)
    before = r"(?<!\w)" if begins_with_word else r"(?<![\w-])(?<!\w\.)"
    after = r"(?!\w)" if ends_with_word else r"(?![\w-])(?!\.\w)"
    return re.compile(before + re.escape(words) + after)
