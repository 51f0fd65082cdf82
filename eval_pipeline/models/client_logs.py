"""Keeps keys and passwords out of what the providers' clients log: addresses, requests and tracebacks."""

from __future__ import annotations

import logging
import traceback
from typing import Any

from eval_pipeline.recordings.credentials import without_credentials

_CLIENTS = frozenset(
    {"aiohttp", "google_genai", "httpcore", "httpcore2", "httpx", "httpx2", "ollama", "openai", "urllib3"}
)


def hide_credentials() -> None:
    """From now on, make every record of a client's logger without credentials, whoever handles it.

    A filter would have to be put on each of their loggers, some of which come about in the middle of a call.
    """
    made = logging.getLogRecordFactory()
    if not isinstance(made, _HidingFactory):
        logging.setLogRecordFactory(_HidingFactory(made))


class _HidingFactory:
    """Makes log records as the factory before it does, those of clients without credentials."""

    def __init__(self, make: Any) -> None:
        self._make = make

    def __call__(self, name: str | None, *arguments: Any, **more: Any) -> logging.LogRecord:
        record: logging.LogRecord = self._make(name, *arguments, **more)
        if (name or "").partition(".")[0] in _CLIENTS:
            record.msg, record.args = without_credentials(record.getMessage()), ()
            if record.exc_info and record.exc_info[1]:
                shown = "".join(traceback.format_exception(record.exc_info[1])).rstrip("\n")
                record.exc_text, record.exc_info = without_credentials(shown), None
        return record
