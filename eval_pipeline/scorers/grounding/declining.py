"""Declining: a sentence that says the tool results do not tell."""

from __future__ import annotations

import re

_SOURCE = (
    r"\b(?:docs?|documentation|documents?|pages?|manual|guide|sources?|context|snippets?|references?|changelog"
    r"|(?:search|tool) results?)\b"
)
_TELL = (
    r"(?:say|tell|mention|cover|specify|state|describe|explain|include|contain|document|address|discuss|give"
    r"|provide|indicate|answer)"
)
_NOT = r"(?:n't|\s+not)\s+(?:\w+ly\s+|seem to\s+|appear to\s+)?"
_NEWS = r"(?:information|mention|documentation|answer|details?)"
_DECLINES = re.compile(
    "|".join(
        (
            rf"{_SOURCE}[^.;]{{0,60}}?\b(?:do|does|did){_NOT}{_TELL}\b",
            rf"\bthey\s+(?:do|did){_NOT}(?:say|mention|tell)\b",
            rf"{_SOURCE}[^.;]{{0,40}}?\b(?:says?|mentions?|contains?|ha(?:s|ve)|gives?|provides?)\s+(?:nothing|no)\b",
            rf"\b(?:nothing|no\s+\w+|none)\b[^.;]{{0,40}}\b(?:in|from|of)\s+(?:the|these|my)\s+{_SOURCE}",
            rf"\b(?:is|are|was|were){_NOT}(?:in|part of)\s+(?:\w+\s+){{0,3}}?{_SOURCE}",
            rf"\b(?:is|are|was|were){_NOT}(?:covered|documented|mentioned|specified|stated|described|answered)\b",
            r"\bundocumented\b",
            r"\b(?:I|we)\s+(?:could|can|did|was|am|have)(?:n't|not|\s+not|\s+unable)\s+(?:\w+ly\s+|able\s+)?(?:to\s+)?"
            r"(?:find|found|answer|tell|determine|confirm|say|locate|know)\b",
            rf"\b(?:I|we)\s+do{_NOT}(?:know|find|have\s+(?:any\s+)?{_NEWS})\b",
            r"\b(?:I|we)(?:'m|\s+am|\s+are|'re)\s+(?:unable|not able)\s+to\b",
            rf"\b(?:I|we)\s+(?:found|find|have|see)\s+(?:nothing|no\s+{_NEWS})\b",
            rf"\bthere(?:'s|\s+is|\s+was)\s+(?:nothing\b[^.;]{{0,40}}{_SOURCE}|no\s+{_NEWS}\b)",
        )
    ),
    re.IGNORECASE,
)
_CONDITION = re.compile(r"\b(?:if|when|whenever|unless)\b", re.IGNORECASE)
_ADDS = re.compile(r"[;,]?\s+(?:but|however|though|although)\b|;", re.IGNORECASE)


def declines(sentence: str) -> bool:
    """Whether a sentence says that the tool results do not tell; one that goes on to tell does not."""
    found = _DECLINES.search(sentence)
    if not found or _CONDITION.search(sentence, 0, found.start()):
        return False
    return not _ADDS.search(sentence, found.end())
