from __future__ import annotations

from datetime import UTC, datetime

import pytest

from eval_pipeline.prices import call_cost, dollars, total_cost

THEN = datetime(2026, 11, 1, tzinfo=UTC)


def test_a_known_model_costs_its_tokens_at_list_price():
    # gpt-4o: $2.50 a million tokens in, $10 a million out: 2,000 × 2.5e-6 + 300 × 10e-6 = 0.005 + 0.003.
    assert call_cost("openai:gpt-4o", 2000, 300, at=THEN) == pytest.approx(0.008)


def test_gemini_is_googles():
    # gemini-2.5-flash: $0.30 in, $2.50 out: 1,000 × 0.3e-6 + 100 × 2.5e-6 = 0.0003 + 0.00025.
    assert call_cost("google_genai:gemini-2.5-flash", 1000, 100, at=THEN) == pytest.approx(0.00055)


@pytest.mark.parametrize(
    ("model", "server"),
    [
        ("ollama:gemma4:e2b", None),
        ("openai:qwen2.5-coder-1.5b-instruct-q4_k_m", None),
        ("openai:gpt-4o", "http://127.0.0.1:8201/v1"),
        ("openai:gpt-4o", "http://localhost:8201/v1"),
        ("openai:gpt-4o", "http://10.0.0.7/v1"),
        ("openai:gpt-4o", "http://models.internal/v1"),
        ("openai:gpt-4o", "https://proxy.example.com/v1"),
        ("function:my_agent:answer", None),
    ],
)
def test_a_model_or_server_without_a_list_price_has_no_cost(model, server):
    assert call_cost(model, 1000, 100, server=server) is None


def test_another_provider_behind_the_same_protocol_has_its_own_prices():
    # Groq's llama-3.1-8b-instant: $0.05 in, $0.08 out: 1e6 × 0.05e-6 + 1e6 × 0.08e-6.
    cost = call_cost(
        "openai:llama-3.1-8b-instant", 10**6, 10**6, server="https://api.groq.com/openai/v1", at=THEN
    )
    assert cost == pytest.approx(0.13)


@pytest.mark.parametrize(
    ("costs", "total"),
    [([0.1, 0.2], 0.3), ([0.1, None], None), ([None], None), ([], None), ([0.0], 0.0)],
)
def test_a_total_is_known_only_when_every_part_is(costs, total):
    assert total_cost(costs) == pytest.approx(total)


@pytest.mark.parametrize(
    ("cost", "shown"),
    [(0.0, "$0.00"), (0.00421, "$0.0042"), (0.05, "$0.050"), (0.5, "$0.50"), (12.3, "$12.30")],
)
def test_costs_are_shown_to_the_digits_that_count(cost, shown):
    assert dollars(cost) == shown
