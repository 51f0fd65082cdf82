"""Estimates come from the recorded calls that are most alike."""

from __future__ import annotations

from dataclasses import replace

from eval_pipeline.planning.typical_calls import Chats, Typical, TypicalCalls
from eval_pipeline.recordings import Entry, Role


def entry(
    number: int,
    case: str,
    *,
    prompt: str = "a" * 12,
    parameters: str = "",
    rounds: int = 0,
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
        parts=(
            ("prompt", prompt),
            ("parameters", parameters),
            *((f"model reply {n}", "d" * 12) for n in range(1, rounds + 1)),
        ),
        explain=((f"judge template of tone ({step})", "c" * 12),) if step else (),
        words="",
        response={},
        usage={"input_tokens": tokens[0], "output_tokens": tokens[1]},
        latency_ms=1,
        at="2026-01-31T12:00:00Z",
        versions={},
    )


MODEL = "openai:gpt-4o-mini"


def calls(typical: TypicalCalls, role: Role, label: str, case_id: str) -> float:
    return typical.chats(role, label, case_id, MODEL).calls


def test_calls_of_a_case_are_those_of_one_configuration():
    entries = [entry(1, "a"), entry(2, "a"), entry(3, "a", prompt="b" * 12), entry(4, "a", prompt="b" * 12)]
    typical = TypicalCalls([*entries, entry(5, "b")])
    assert calls(typical, "agent", "", "a") == 2  # two with each prompt
    assert calls(typical, "agent", "", "unknown") == 1.5  # the mean of 2 and 1
    assert calls(typical, "judge", "tone", "a") == 1  # nothing alike is recorded


def test_calls_of_a_case_are_not_those_of_several_candidates_together():
    entries = [entry(number, "a", parameters=f"{number:012}") for number in range(1, 7)]
    assert calls(TypicalCalls(entries), "agent", "", "a") == 1
    # Three candidates whose first question is the same, and what they were told by their tools is not.
    entries = [entry(1, "a"), *(entry(number, "a", rounds=1) for number in range(2, 5))]
    assert calls(TypicalCalls([*entries, entry(5, "a", rounds=2)]), "agent", "", "a") == 3


def test_calls_of_a_repeated_case_are_those_of_one_run():
    # Two calls in repeat 0, three in each of repeats 1 and 2.
    entries = [entry(number, "a", repeat=number % 3) for number in range(1, 9)]
    assert calls(TypicalCalls(entries), "agent", "", "a") == 2


def test_calls_of_a_judged_check_are_its_steps_however_many_answers_were_judged():
    # Three answers, each first taken apart and then judged.
    entries = [entry(number, "a", step=("claims", "verdicts")[number % 2]) for number in range(6)]
    assert calls(TypicalCalls(entries), "judge", "tone", "a") == 2


def test_tokens_and_price_are_the_mean_of_such_calls():
    typical = TypicalCalls([entry(1, "a", tokens=(1000, 100)), entry(2, "a", tokens=(3000, 300))])
    chats = Chats()
    chats.add(10, typical.chats("agent", "", "a", MODEL))
    found = typical.estimate(MODEL, "agent", chats, None, at_least=10)
    assert (found.calls, found.input_tokens, found.output_tokens) == (10, 20_000, 2_000)
    # 20,000 tokens at $0.15 and 2,000 at $0.60 a million: 0.003 + 0.0012.
    assert found.cost is not None
    assert abs(found.cost - 0.0042) < 1e-9


def test_tokens_are_those_of_the_call_that_is_most_alike():
    short, long = entry(1, "a", tokens=(100, 10)), entry(2, "a", prompt="b" * 12, tokens=(900, 10))
    other = replace(entry(3, "a", tokens=(5, 1)), model="openai:other")
    typical = TypicalCalls([other, short, long])
    assert typical.chats("agent", "", "a", MODEL, (MODEL, "b" * 12)) == Typical(1, 900, 10)
    assert typical.chats("agent", "", "a", MODEL, ("openai:other", "a" * 12)) == Typical(1, 5, 1)
    # Where no call is nearest, those of the same model count before all others.
    assert typical.chats("agent", "", "a", MODEL) == Typical(1, 100, 10)
    assert typical.chats("agent", "", "a", "openai:new") == Typical(1, 5, 1)


def test_without_anything_alike_tokens_are_unknown():
    typical, chats = TypicalCalls([entry(1, "a")]), Chats()
    chats.add(1, typical.chats("agent", "", "a", MODEL))
    chats.add(2, typical.chats("judge", "tone", "a", MODEL))
    found = typical.estimate(MODEL, "judge", chats, None, at_least=0)
    assert (found.calls, found.input_tokens, found.cost) == (3, None, None)
