"""States of numbered issues: an answer that calls closed what the tool gives as open, or the reverse."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from eval_pipeline.scorers.grounding.sentences import SPANS

_FIELD = r"(?:^|[{,\n(\[])[\s\"'*#>-]*"
_IS = r"[^.\n]{0,80}?(?:\bis|[(\[:,])\s*(?:still |now )?(?:open|closed)\b"
_RECORD = re.compile(
    rf"{_FIELD}(?:issue|number|id|iid|ticket)\b[\s\"'*#:=]*(?P<number>\d+)\b(?P<first>{_IS})?"
    rf"|(?:^|\n)[\s*>-]*#\s?(?P<hash>\d+)\b"
    rf"|(?<![\w-])(?:state|status)[\"'*]*\s*(?::|=|\bis\b|-)[\s\"'*]*(?P<state>open|closed|fixed|resolved)\b"
    rf"|(?:\bissue\s+#?|#)(?P<named>\d+)\b(?P<later>{_IS})"
    r"|(?P<brace>[{}])",
    re.IGNORECASE,
)
"""The number of an issue, or its state, as JSON, lines of fields and sentences give them."""
_STATE = re.compile(
    r"(?P<not>\b(?:not|never|isn't|wasn't|hasn't|no longer|no version|nothing)\b(?:\s+\w+){0,3}?\s+)?"
    r"\b(?P<state>open|unresolved|unfixed|closed|fixed|resolved|solved)\b(?!-)",
    re.IGNORECASE,
)
_UNREAL = re.compile(
    r"\b(?:if|once|when|whether|unless|until|after|before|to be|gets)\b"
    r"|\b(?:will|would|should|could|can|may|might|must)\b",
    re.IGNORECASE,
)
_CLAUSE = re.compile(r"[,;:.]\s|\s-\s|\s(?:and|but|while|whereas)\s", re.IGNORECASE)
_SUBJECTLESS = re.compile(
    r"\W*(?:it|this|that|the (?:issue|bug|ticket|problem)|is|was|has|remains?|still|not|open|closed|fixed)\b",
    re.IGNORECASE,
)
_OPEN = ("open", "unresolved", "unfixed")


def read_states(texts: Sequence[str]) -> dict[str, bool]:
    """Whether each issue of the tool results is open, by number; left out where they disagree."""
    found: dict[str, set[bool]] = {}
    for text in texts:
        number = None
        for match in _RECORD.finditer(text):
            number = match["number"] or match["hash"] or match["named"] or number
            if match["brace"]:  # the next object has a number of its own
                number = None
            state = match["state"] or match["first"] or match["later"]
            if state and number:
                found.setdefault(number, set()).add(state.lower().endswith("open"))
    return {number: states.pop() for number, states in found.items() if len(states) == 1}


def state_contradiction(sentence: str, states: Mapping[str, bool], question: str) -> str | None:
    """What a sentence says against an issue's state, in words, or None."""
    if not states or sentence.endswith("?"):
        return None
    text = SPANS.sub(lambda span: "x" * len(span[0]), sentence)
    subject = _only_issue(text, states) or _only_issue(question, states)
    for clause in _CLAUSE.split(text):
        number = _only_issue(clause, states) or (subject if _SUBJECTLESS.match(clause) else None)
        said = set(_states_of(clause))
        if number and said == {not states[number]}:
            return f"issue {number} is {'open' if states[number] else 'closed'}"
    return None


def _only_issue(text: str, states: Mapping[str, bool]) -> str | None:
    numbers = set(re.findall(r"(?<![\w.])\d+(?![\w.]*\w)", text)) & states.keys()
    return numbers.pop() if len(numbers) == 1 else None


def _states_of(clause: str) -> Iterator[bool]:
    for match in _STATE.finditer(clause):
        if not _UNREAL.search(clause[: match.start()]):
            yield (match["state"].lower() in _OPEN) != bool(match["not"])
