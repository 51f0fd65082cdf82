"""What an exception of somebody else's code says, safe to show and to keep."""

from __future__ import annotations

from eval_pipeline.recordings.credentials import without_credentials

LONGEST_TEXT = 2_000
"""Characters kept of an exception's text; some carry a whole page, or all that they were working on."""


def failure_text(failure: BaseException) -> str:
    """The exception's type and text, without credentials and not too long."""
    return shortened(without_credentials(f"{type(failure).__name__}: {words_of(failure)}"))


def words_of(failure: BaseException) -> str:
    """What `str` makes of an exception, also of one that raises then."""
    try:
        return str(failure)
    except Exception as broken:
        return f"its text could not be made: {type(broken).__name__}"


def shortened(text: str, longest: int = LONGEST_TEXT) -> str:
    """`text`, or its beginning with how much was left out; hide credentials before."""
    if len(text) <= longest:
        return text
    return f"{text[:longest]}… ({len(text) - longest:,} more characters)"
