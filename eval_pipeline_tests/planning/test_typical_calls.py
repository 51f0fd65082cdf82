"""Estimates come from the recorded calls that are most alike."""

from __future__ import annotations

from eval_pipeline.planning.typical_calls import TypicalCalls
from eval_pipeline.recordings import Entry


def entry(
    number: int,
    case: str,
    *,
    prompt: str = "a" * 12,
    tokens: tuple[int, int] = (100, 10),
    repeat: int = 0,
    step: str = "",
) -> Entry:
    return Entry(
        id=f"{number:064x}:{repeat}.0:0",
        kind="chat",
        role="judge" if step else "agent",
        model="openai:gpt-4o-mini",
        label="tone" if step else "",
        cases=(case,),
        parts=(("prompt", prompt),),
        explain=((f"judge template of tone ({step})", "c" * 12),) if step else (),
        words="",
        response={},
        usage={"input_tokens": tokens[0], "output_tokens": tokens[1]},
        latency_ms=1,
        at="2026-01-31T12:00:00Z",
        versions={},
    )


def test_calls_of_a_case_are_those_of_one_configuration():
    entries = [entry(1, "a"), entry(2, "a"), entry(3, "a", prompt="b" * 12), entry(4, "a", prompt="b" * 12)]
    typical = TypicalCalls([*entries, entry(5, "b")])
    assert typical.calls("agent", "", "a") == 2  # two with each prompt
    assert typical.calls("agent", "", "unknown") == 1.5  # the mean of 2 and 1
    assert typical.calls("judge", "tone", "a") == 1  # nothing alike is recorded


def test_calls_of_a_repeated_case_are_those_of_one_run():
    # Two calls in repeat 0, three in each of repeats 1 and 2.
    entries = [entry(number, "a", repeat=number % 3) for number in range(1, 9)]
    assert TypicalCalls(entries).calls("agent", "", "a") == 2


def test_calls_of_a_judged_check_are_its_steps_however_many_answers_were_judged():
    # Three answers, each first taken apart and then judged.
    entries = [entry(number, "a", step=("claims", "verdicts")[number % 2]) for number in range(6)]
    assert TypicalCalls(entries).calls("judge", "tone", "a") == 2


def test_tokens_and_price_are_the_mean_of_such_calls():
    typical = TypicalCalls([entry(1, "a", tokens=(1000, 100)), entry(2, "a", tokens=(3000, 300))])
    found = typical.estimate("openai:gpt-4o-mini", "agent", {"": 10.0}, None, at_least=10)
    assert (found.calls, found.input_tokens, found.output_tokens) == (10, 20_000, 2_000)
    # 20,000 tokens at $0.15 and 2,000 at $0.60 a million: 0.003 + 0.0012.
    assert found.cost is not None
    assert abs(found.cost - 0.0042) < 1e-9


def test_without_anything_alike_tokens_are_unknown():
    found = TypicalCalls([]).estimate("openai:gpt-4o-mini", "judge", {"tone": 2.0}, None, at_least=0)
    assert (found.input_tokens, found.cost) == (None, None)
