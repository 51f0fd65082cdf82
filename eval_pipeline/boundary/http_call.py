"""One attempt at an HTTP endpoint, whose failures are sorted by the layer that makes live calls."""

from __future__ import annotations

import functools
import json
import logging
import ssl
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn

import httpx

from eval_pipeline.errors import ProviderFault
from eval_pipeline.json_data import unusable_in
from eval_pipeline.models.faults import UnreadableReply
from eval_pipeline.recordings.credentials import without_credentials, without_secrets

LONGEST_BODY = 300
"""Characters of an error's body that are shown."""


class EndpointError(Exception):
    """A reply with an error status."""

    def __init__(self, text: str, response: httpx.Response) -> None:
        self.response = response
        self.status_code = response.status_code
        super().__init__(text)


@dataclass(frozen=True)
class Endpoint:
    """Where and how an endpoint is asked, with the secrets that takes."""

    name: str
    method: str
    url: str = field(repr=False)
    headers: Mapping[str, str] = field(repr=False)
    timeout_s: float
    secrets: frozenset[str] = field(repr=False)

    async def send(self, request: Any) -> Any:
        """The JSON that the endpoint replies to `request`.

        Raises:
            EndpointError: for an error status.
            ConnectionError: when it cannot be reached, or hangs up.
            TimeoutError: when it takes too long.
            UnreadableReply: when its reply is no JSON.
            ProviderFault: when what the suite says of it is wrong.
        """
        _HIDING.secrets |= self.secrets
        what: dict[str, Any] = {"params": request} if self.method == "GET" else {"json": request}
        failure: Exception | None = None
        try:
            # A client a call: one that is kept would belong to one event loop, and to nobody who closes it.
            async with httpx.AsyncClient(verify=_certificates(), timeout=self.timeout_s) as client:
                response = await client.request(self.method, self.url, headers=dict(self.headers), **what)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            failure = error
        if failure is not None:  # outside of the block: what was raised there may show a secret
            self._raise(failure)
        if not response.is_success:
            self._refuse(response)
        try:
            return _read(response.content)
        except (ValueError, RecursionError) as unreadable:
            text = f"{unreadable}: {self._start(response)}"
        raise UnreadableReply(f"the reply is no JSON: {text}")

    def _raise(self, failure: Exception) -> NoReturn:
        text = self._without_secrets(f"{type(failure).__name__}: {failure}".rstrip(": "))
        if isinstance(failure, (httpx.UnsupportedProtocol, httpx.InvalidURL, httpx.LocalProtocolError)):
            raise ProviderFault("bad_address", f"{self.name}: {text}")
        if isinstance(failure, httpx.DecodingError):
            raise UnreadableReply(text)
        if isinstance(failure, httpx.TimeoutException):
            raise TimeoutError(text)
        raise ConnectionError(text)

    def _refuse(self, response: httpx.Response) -> NoReturn:
        if response.status_code < 400:
            target = self._without_secrets(response.headers.get("location", "elsewhere"))
            raise ProviderFault(
                f"http_{response.status_code}", f"{self.name}: it sends on to {target}; make that the `url`"
            )
        raise EndpointError(f"{response.reason_phrase}: {self._start(response)}".strip(": "), response)

    def _start(self, response: httpx.Response) -> str:
        """How the body begins; cut only after secrets are gone, as half a secret is not found."""
        return self._without_secrets(" ".join(response.text.split()))[:LONGEST_BODY]

    def _without_secrets(self, text: str) -> str:
        return without_credentials(str(without_secrets(text, self.secrets)))


class _Hiding(logging.Filter):
    """Keeps secrets out of httpx's own log, which shows every address."""

    def __init__(self) -> None:
        super().__init__()
        self.secrets: frozenset[str] = frozenset()

    def filter(self, record: logging.LogRecord) -> bool:
        record.msg = without_credentials(str(without_secrets(record.getMessage(), self.secrets)))
        record.args = ()
        return True


_HIDING = _Hiding()
logging.getLogger("httpx").addFilter(_HIDING)


@functools.cache
def _certificates() -> ssl.SSLContext:
    return httpx.create_ssl_context()


def _read(body: bytes) -> Any:
    data = json.loads(body)
    if unusable := unusable_in(data):
        raise ValueError(unusable)
    return data
