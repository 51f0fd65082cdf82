"""Numbers in words and digits, versions, and quantities with a unit."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal

_SMALL = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen"
).split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_WORDS = {word: n for n, word in enumerate(_SMALL)} | {word: 20 + 10 * n for n, word in enumerate(_TENS)}
_SCALES = {"hundred": 100, "thousand": 1000, "million": 1_000_000}
_ANY = "|".join([*_WORDS, *_SCALES])

SOFT = "\u2060"
"""Stands before a small number that the text has in words, such as "two": a count rather than a fact."""

Quantity = tuple[str, Decimal]
"""Dimension, and the amount in its base unit: seconds, bytes, percent or months."""

_UNITS_BY_DIMENSION = {
    "time": {
        "0.001": "ms millisecond milliseconds",
        "1": "s sec secs second seconds",
        "60": "m min mins minute minutes",
        "3600": "h hr hrs hour hours",
        "86400": "d day days",
        "604800": "week weeks",
    },
    "size": {
        "1": "byte bytes",
        "1000": "kb kilobyte kilobytes",
        "1000000": "mb megabyte megabytes",
        "1000000000": "gb gigabyte gigabytes",
        "1024": "kib",
        "1048576": "mib",
        "1073741824": "gib",
    },
    "percent": {"1": "% percent"},
    "months": {"1": "month months", "12": "year years"},
}
_UNITS: dict[str, Quantity] = {
    unit: (dimension, Decimal(amount))
    for dimension, bases in _UNITS_BY_DIMENSION.items()
    for amount, units in bases.items()
    for unit in units.split()
}
_UNIT_NAMES = "|".join(sorted(map(re.escape, _UNITS), key=len, reverse=True))

_IN_WORDS = re.compile(
    r"\b(?<=\ba )single\b"
    rf"|(?<![\w./~-])(?:{_ANY})(?:(?:-|\s+and\s+|\s+)(?:{_ANY}))*(?!\w|[./]\w|-(?!(?:{_UNIT_NAMES})\b))",
    re.IGNORECASE,
)
"""A number in words that is no part of a name such as `step-two.md`, with "a single" as one."""

NUMBER = (
    rf"(?<!\w)(?:(?<![\w)])-)?{SOFT}?[vV]?\d+(?:[.,_]\d+)*"
    r"(?:\.[xX]\b|-?(?:rc|alpha|beta|dev|post)[.-]?\d*)?"
    rf"(?:(?:[ -]?(?:{_UNIT_NAMES})|[xX])(?!\w|-\w)|(?:st|nd|rd|th)\b)?(?!\w|[.,_]\d)"
)
"""A number or version with its unit, where it is no part of a longer word."""
_PARTS = re.compile(
    rf"(?P<soft>{SOFT})?[vV]?(?P<value>\d.*?)"
    rf"(?:[ -]?(?P<unit>{_UNIT_NAMES})|(?<!\.)[xX]|(?P<ordinal>st|nd|rd|th))?",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Number:
    """One number or version as a text has it."""

    value: str
    """Digits and points alone: `1,000` is `1000`, `v2.4.1` is `2.4.1`; a wildcard stays (`2.4.x`)."""
    quantity: Quantity | None = None
    soft: bool = False
    """Whether it is a small number in words without a unit."""
    ordinal: bool = False


def digits_for_words(text: str) -> str:
    """`text` with numbers in words as digits; those to ten bear the mark `SOFT`."""
    return _IN_WORDS.sub(_digits, text)


def parse_number(text: str) -> tuple[Number, ...]:
    """The numbers of a `NUMBER` match; more than one where commas only list them."""
    sign, text = ("-", text[1:]) if text.startswith("-") else ("", text)
    parts = _PARTS.fullmatch(text)
    if not parts:
        return ()
    value = parts["value"].lower()
    if re.fullmatch(r"\d{1,3}(,\d{3})+(\.\d+)?", value) or "_" in value:
        value = value.replace(",", "").replace("_", "")
    values = value.split(",")
    unit = (parts["unit"] or "").lower()
    amount = None
    if unit and re.fullmatch(r"\d+(\.\d+)?", values[-1]):
        dimension, base = _UNITS[unit]
        amount = (dimension, (base * Decimal(values[-1])).normalize())
    soft = bool(parts["soft"]) and amount is None
    last = Number(sign + values[-1], amount, soft, bool(parts["ordinal"]))
    return (*(Number(sign + each) for each in values[:-1]), last)


def _digits(words: re.Match[str]) -> str:
    """Digits for one run of number words; each word's own where they are no one number ("two and three")."""
    if words[0].lower() == "single":
        return f"{SOFT}1"
    total = group = 0
    least = 1000
    for word in re.findall(r"[a-z]+", words[0].lower()):
        if word == "and":
            continue
        if word in _WORDS:
            value = _WORDS[word]
            if value >= least:
                return re.sub(r"[A-Za-z]+", lambda each: _IN_WORDS.sub(_digits, each[0]), words[0])
            group, least = group + value, 10 if value >= 20 else 1
        elif word == "hundred":
            group, least = (group or 1) * 100, 100
        else:
            total, group, least = total + (group or 1) * _SCALES[word], 0, 1000
    number = total + group
    return f"{SOFT if number <= 10 else ''}{number}"
