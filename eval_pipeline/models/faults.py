"""What a provider's exception means: worth another attempt, this request's fault, or the set-up's."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from eval_pipeline.failure_text import words_of
from eval_pipeline.models.exception_names import (
    BAD_ADDRESS,
    BROKEN_OFF,
    CONNECTION,
    STOPPED_BY,
    UNREADABLE,
    UNREADABLE_TEXTS,
)
from eval_pipeline.models.retry_after import retry_after_s
from eval_pipeline.recordings.credentials import without_credentials


class UnreadableReply(Exception):
    """A reply that is not what the provider's protocol says, found out by us."""


TRANSIENT_STATUS = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
OVERLOAD_STATUS = frozenset({429, 503, 529})
REFUSED_STATUS = frozenset({400, 413, 422})
SETUP_CODES = ("API_KEY_INVALID", "FAILED_PRECONDITION", "invalid_api_key", "model_not_found")
"""Codes in the body of an error that say more than its status: no request at all would be answered.

Gemini says 400 to a wrong key, which must not be recorded as the fault of a request.
"""
NO_QUOTA_CODE = "insufficient_quota"
_MEMORY_ADDRESS = re.compile(r" ?\w*:?<[\w.]+ object at 0x[0-9a-f]+>")
LONGEST_TEXT = 500
"""Characters kept of what a provider writes; a proxy may send a whole page."""


@dataclass(frozen=True)
class Fault:
    """One failed attempt."""

    kind: str
    text: str
    transient: bool
    of_this_request: bool = False
    """Asking the same again would give the same, whatever else the provider answers."""
    overload: bool = False
    """The provider has too many calls, or is out of quota."""
    retry_after_s: float | None = None
    """Seconds the server asks to wait, when it says so."""


def classify(failure: BaseException, handled: BaseException | None = None) -> Fault:
    """Sort an exception of any provider's client by its HTTP status, or by its nature without one.

    Args:
        failure: what the client raised.
        handled: what the caller was handling when it called; Python chains it to `failure`, of which it is
            no cause.
    """
    links = list(_chain(failure, handled))
    if any(_is_a(link, *BROKEN_OFF) for link in links):
        return Fault("connection", _cause(links), True)
    status = next((found for found in map(_status, links) if found), None)
    text = _text(links, status)
    for name, kind in STOPPED_BY.items():
        if _is_a(failure, name):
            return Fault(kind, text, False, of_this_request=True)
    if status is not None:
        return _of_status(status, links, text)
    if any(isinstance(link, TimeoutError) or "Timeout" in type(link).__name__ for link in links):
        return Fault("timeout", text, True)
    if any(_is_a(link, *BAD_ADDRESS) for link in links):
        return Fault("bad_address", text, False)
    if any(
        _is_a(link, *UNREADABLE) or words_of(link).strip("'\"").startswith(UNREADABLE_TEXTS) for link in links
    ):
        return Fault("malformed_body", text, True)
    if any(_is_a(link, *CONNECTION) for link in links):
        return Fault("connection", _cause(links), True)
    if type(failure).__name__ == "ResponseError":  # of Ollama, in the middle of a stream
        return Fault("broken_stream", text, True)
    return Fault("client_error", text, False)


def _of_status(status: int, links: list[BaseException], text: str) -> Fault:
    kind = f"http_{status}"
    said = " ".join(f"{words_of(link)} {getattr(link, 'code', '')}" for link in links)
    if NO_QUOTA_CODE in said:
        return Fault("no_quota", text, False)
    if any(code in said for code in SETUP_CODES):
        return Fault(kind, text, False)
    if status in TRANSIENT_STATUS:
        waits = (retry_after_s(link) for link in links)
        wait = next((found for found in waits if found is not None), None)
        return Fault(kind, text, True, overload=status in OVERLOAD_STATUS, retry_after_s=wait)
    if status in REFUSED_STATUS:
        return Fault("refused_request", text, False, of_this_request=True)
    return Fault(kind, text, False)


def _chain(failure: BaseException, handled: BaseException | None) -> Iterator[BaseException]:
    seen = {id(handled)}
    link: BaseException | None = failure
    while link is not None and id(link) not in seen:
        seen.add(id(link))
        yield link
        link = link.__cause__ or link.__context__


def _cause(links: list[BaseException]) -> str:
    """What a connection failed by, without what its client made of it: one calls a refused one timed out."""
    return _text(links[-2:], None)


def _text(links: list[BaseException], status: int | None) -> str:
    """The status and what was raised or, where there is no status, what it came from; on one line."""
    first, last = links[0], links[-1]
    text, cause = f"{type(first).__name__}: {words_of(first)}", words_of(last)
    if status is not None:
        text = f"HTTP {status}: {text}"
    elif cause not in text:
        text += f" ({type(last).__name__}: {cause})"
    # First credentials, as half of one is not found, then a cut: the pattern takes the square of the length.
    line = without_credentials(" ".join(text.split()))[: 4 * LONGEST_TEXT]
    line = _MEMORY_ADDRESS.sub("", line).strip()
    return line if len(line) <= LONGEST_TEXT else f"{line[:LONGEST_TEXT]}…"


def _status(failure: BaseException) -> int | None:
    response = getattr(failure, "response", None)
    said: Any = failure.args[0] if failure.args else None  # some routers send an error with status 200
    for holder, names in (
        (failure, ("status_code", "code")),
        (response, ("status_code", "status")),
        (said, ("code",)),
    ):
        for name in names:
            value = holder.get(name) if isinstance(holder, Mapping) else getattr(holder, name, None)
            if isinstance(value, int) and 400 <= value < 600:
                return value
    return None


def _is_a(failure: BaseException, *names: str) -> bool:
    return any(kind.__name__ in names for kind in type(failure).__mro__)
