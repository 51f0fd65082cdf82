"""The words that carry polarity: opposites, negations, and phrases that stand for either."""

from __future__ import annotations

import re

from eval_pipeline.scorers.grounding.stems import stem

_OPPOSITES = """
    safe secure harmless / unsafe insecure dangerous risky
    _on enable enabled / _off disable disabled
    open reopen / close closed
    allow permit allowed / forbid forbidden disallow prohibit
    require required mandatory / optional
    include / exclude
    possible / impossible
    valid / invalid
    able / unable
    support supported / unsupported
    available / unavailable
    compatible / incompatible
    necessary needed need / unnecessary
    encrypt encrypted / unencrypted
    lock locked / unlock unlocked
    keep preserve retain / remove strip drop delete erase discard
    succeed / fail
    accept / reject refuse
    online / offline
    public / private
    visible / hidden
    true / false
    increase / decrease
"""


def _lexicon() -> dict[str, tuple[str, int]]:
    lexicon = {}
    for pair in _OPPOSITES.strip().splitlines():
        good, bad = (side.split() for side in pair.split("/"))
        lexicon.update({stem(word): (stem(good[0]), 1) for word in good})
        lexicon.update({stem(word): (stem(good[0]), -1) for word in bad})
    return lexicon


LEXICON = _lexicon()
"""Concept and sign of each word's stem."""

STATES = frozenset(map(stem, "safe _on open allow require possible valid support available".split()))
"""Concepts that say what a thing is: fewer shared words tell that two sentences speak of the same."""

NEGATORS = frozenset("not never without none nothing nobody neither nor unless avoid avoids avoiding".split())
CONDITIONS = frozenset("if when whenever while whether how unless until".split())
"""Words that begin a clause which asserts nothing."""

STOP_WORDS = frozenset(
    """
    a about again all also already always am an and any are as at be because been being both but by can could
    did do docs documentation does doing either even ever file files for from get got had has have having he
    hence here how however i if in instead into is issue issues it its itself just let like make may me means
    might more most must my no of off on one only or other otherwise our own page per please release releases
    same shall she should since so some still such sure than that the their them then there therefore these
    they this those though although through thus ticket to too under until up us use used using version
    versions very via want was we well were what when where whether which while who whose why will with would
    yes you your
    """.split()
)
"""Words that do not tell what a sentence speaks of."""

RELATIONS = {
    "_before": ("order", -1),
    "_after": ("order", 1),
    "_upper": ("bound", -1),
    "_lower": ("bound", 1),
}
"""Marks that `mark_phrases` sets: kind of relation and side."""

_VERSION = r"(?:version |v)?\d+\.\d"
_COUNT = r"(?=\s+\u2060?\d)"
_IS = r"(is|are|be|was|were|stays?|remains?|defaults? to|set to)((?: \w+ly| always| still| already| now)?)"
_AFTER_ON = r"(?=\s*(?:[.,;:!?)]|$|by default|when|if|in|for|unless|and|or|while|until|only|by))"
_PHRASES = [
    (re.compile(pattern, re.IGNORECASE), mark)
    for pattern, mark in (
        (r"\bcannot\b", "can not"),
        (r"n't\b", " not"),
        (r"\bno longer\b", "not"),
        (r"\b(?:instead of|rather than)\b", " without "),
        (r"\bnot (?:only|just|merely|simply)\b", " "),
        (r"\bnot (?:necessarily|always|all|every|entirely|everything)\b", " _partly "),
        (r"(?:\bto|=|:) never\b", " "),  # a setting's value
        (r"\b(?:turn|switch)(?:s|es|ed|ing)?\b((?:\s+[^\s.,;:]+){0,4}?)\s+(on|off)\b", r"\1 _\2"),
        (rf"\b{_IS} (on|off)\b{_AFTER_ON}", r"\1\2 _\3"),
        (rf"\b(?:no more than|not more than|at most|up to|a maximum of){_COUNT}", " _upper "),
        (rf"\b(?:no less than|not less than|at least|a minimum of){_COUNT}", " _lower "),
        (r"\b(?:before|prior to)\b", " _before "),
        (r"\bafter\b", " _after "),
        (rf"\b(?:until|earlier than|older than|below)(?=\s+{_VERSION})", " _before "),
        (rf"\b(?:since|from|as of|starting (?:with|in)|newer than|later than)(?=\s+{_VERSION})", " _after "),
        (
            r"(\bv?\d+(?:\.\d+){1,4})(?:\+| (?:and|or) (?:later|newer|above|up|onwards?|higher)\b)",
            r" _after \1 ",
        ),
        (r"(\bv?\d+(?:\.\d+){1,4}) (?:and|or) (?:earlier|older|below|lower)\b", r" _before \1 "),
    )
]
_REPLY = re.compile(r"^(?:yes|no|nope|correct|right)\b\s*[,.:;!-]+\s*", re.IGNORECASE)


def mark_phrases(prose: str) -> str:
    """`prose` with phrases such as "turn off" or "up to 30" as one mark each, and "n't" as "not"."""
    for pattern, mark in _PHRASES:
        prose = pattern.sub(mark, prose)
    return prose


def without_reply(sentence: str) -> str:
    """`sentence` without the yes or no that it begins with."""
    return _REPLY.sub("", sentence)
