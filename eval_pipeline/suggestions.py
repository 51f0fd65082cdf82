"""What a misspelt word was probably meant to be."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

LISTED = 10
"""Known words that a message lists at most."""
COMPARED = 1000
"""Known words that are compared by likeness; among more, only spelling but for case counts."""


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """`; did you mean 'x'?`, or the known words when none is close."""
    names = sorted(set(known))
    folded = {name.casefold(): name for name in names}
    close = [word.casefold()] if word.casefold() in folded else []
    if not close and len(names) <= COMPARED:
        close = difflib.get_close_matches(word.casefold(), folded, n=1)
    if close:
        return f"; did you mean {folded[close[0]]!r}?"
    if not names:
        return ""
    more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
    return f"; known: {', '.join(names[:LISTED])}{more}"
