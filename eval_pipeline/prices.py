"""What model calls cost in US dollars, by the list prices that the package `genai-prices` holds; offline."""

from __future__ import annotations

import math
from collections.abc import Iterable
from datetime import datetime
from functools import lru_cache
from ipaddress import ip_address
from urllib.parse import urlsplit

_PROVIDERS = {"google_genai": "google", "openai": "openai"}
"""LangChain's names of the providers that charge by token, and theirs in the price list."""


def call_cost(
    model: str,
    input_tokens: int,
    output_tokens: int,
    *,
    server: str | None = None,
    at: datetime | None = None,
) -> float | None:
    """What one chat call costs at list price, without discounts such as those for cached input.

    Args:
        model: `provider:model`.
        input_tokens: of the request.
        output_tokens: of the reply, its reasoning included.
        server: the model's `base_url`, where it has one: prices are then that server's.
        at: when the call was made, with its time zone, for prices have changed; left out: now.

    Returns:
        US dollars; None where the list has no price for this model at this server, as for a local one.
    """
    return _cost(model, input_tokens, output_tokens, server, at) if _is_priced(model, server) else None


@lru_cache(maxsize=1000)
def _is_priced(model: str, server: str | None) -> bool:
    if model.partition(":")[0] not in _PROVIDERS or (server is not None and _is_local(server)):
        return False
    try:
        _cost(model, 1, 1, server, None)
    except LookupError:
        return False
    return True


def _cost(
    model: str, input_tokens: int, output_tokens: int, server: str | None, at: datetime | None
) -> float:
    from genai_prices import Usage, calc_price

    provider, _, name = model.partition(":")
    usage = Usage(input_tokens=input_tokens, output_tokens=output_tokens)
    if server is None:
        price = calc_price(usage, name, provider_id=_PROVIDERS[provider], genai_request_timestamp=at)
    else:
        price = calc_price(usage, name, provider_api_url=server, genai_request_timestamp=at)
    return float(price.total_price)


def total_cost(costs: Iterable[float | None]) -> float | None:
    """The sum; None where any part is unknown, or where there is none: no call is not a free one."""
    found = list(costs)
    known = [cost for cost in found if cost is not None]
    return math.fsum(known) if known and len(known) == len(found) else None


def dollars(cost: float) -> str:
    """A cost in words, to the cent or, below a dollar, with two digits that count: `$12.30`, `$0.0042`."""
    if cost == 0 or cost >= 1:
        return f"${cost:,.2f}"
    return f"${cost:.{max(2, 1 - math.floor(math.log10(cost)))}f}"


def _is_local(server: str) -> bool:
    """Whether a server is this machine or one of the same network, which no price list knows."""
    host = urlsplit(server).hostname or ""
    try:
        return not ip_address(host).is_global
    except ValueError:
        return "." not in host or host.endswith((".local", ".internal", ".localhost"))
