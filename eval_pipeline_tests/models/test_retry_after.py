"""How long a provider asks to wait."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import httpx
import pytest

from eval_pipeline.models.retry_after import retry_after_s


class Refused(Exception):
    def __init__(self, details=None, **headers):
        self.response = httpx.Response(
            429, headers={name.replace("_", "-"): v for name, v in headers.items()}
        )
        self.details = details


@pytest.mark.parametrize(
    ("failure", "seconds"),
    [
        (Refused(retry_after="7"), 7),
        (Refused(retry_after="0.5"), 0.5),
        (Refused(Retry_After="7", retry_after_ms="1500"), 1.5),
        (Refused({"error": {"details": [{"retryDelay": "21.5s"}]}}), 21.5),
        (Refused({"error": {"details": [{"retryDelay": "21s"}]}}, retry_after="7"), 7),
        (Refused(retry_after="-3"), 0),
        (Refused(retry_after="soon"), None),
        (Refused(retry_after="Mon, 01 Jan 0001 00:00:00 +2359"), 0),
        (Refused(retry_after="Mon, 01 Jan 2024 00:00:00 -0000"), 0),
        (Refused(), None),
        (ValueError("no response at all"), None),
    ],
)
def test_seconds_are_found_wherever_they_stand(failure, seconds):
    assert retry_after_s(failure) == seconds


def test_a_date_is_counted_from_now():
    date = format_datetime(datetime.now(UTC) + timedelta(seconds=90), usegmt=True)
    assert retry_after_s(Refused(retry_after=date)) == pytest.approx(90, abs=2)


def test_a_date_that_has_passed_is_no_wait():
    date = format_datetime(datetime.now(UTC) - timedelta(seconds=90), usegmt=True)
    assert retry_after_s(Refused(retry_after=date)) == 0
