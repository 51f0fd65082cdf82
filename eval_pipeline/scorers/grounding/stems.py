"""Stems of English words, coarse on purpose: enough to see that two sentences speak of the same."""

from __future__ import annotations

import functools
import re

_IRREGULAR = {
    word: base
    for base, words in {
        "writ": "written wrote writing",
        "run": "ran",
        "keep": "kept",
        "hold": "held",
        "send": "sent",
        "show": "shown",
        "lose": "lost",
        "tak": "taken took",
        "giv": "given gave",
        "find": "found",
        "mak": "made",
    }.items()
    for word in words.split()
}
_BRITISH = re.compile(r"(?<=col|fav|hon)our|(?<=behavi)our|(?<=neighb)our")


@functools.lru_cache(maxsize=8192)
def stem(word: str) -> str:
    """The stem of a word, in lower case: `syncing`, `synced` and `syncs` are `sync`."""
    word = _BRITISH.sub("or", word.casefold().removesuffix("'s"))
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if len(word) > 4 and re.fullmatch(r".*(ies|ied)", word):
        return word[:-3] + "y"
    for suffix in ("ing", "ed", "es", "s"):
        if word.endswith(suffix) and len(word) - len(suffix) >= 3 and not word.endswith(("ss", "us", "is")):
            word = word.removesuffix(suffix)
            break
    if re.search(r"([bdgmnprt])\1$", word):
        word = word[:-1]
    return word.removesuffix("e") if len(word) > 3 else word
