"""Carry-over changes no result: random edits, one after the other, against a run from scratch after each."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable

import pytest

from eval_pipeline_tests.carry_over.shop import Shop

WORDS = ("price", "cheapest", "page", "hello", "boom", "apple", "pear", "plum")
STEPS = 5


def question(chance: random.Random) -> str:
    return " ".join(chance.choice(WORDS) for _ in range(chance.randint(1, 3)))


def edit_case(shop: Shop, chance: random.Random) -> None:
    case = chance.choice(shop.cases)
    part = chance.choice(("input", "expected", "reference"))
    case[part] = {"says": chance.choice("34.!oN")} if part == "expected" else question(chance)


def add_case(shop: Shop, chance: random.Random) -> None:
    shop.cases.insert(
        chance.randint(0, len(shop.cases)),
        {"id": f"case-{chance.randint(0, 10**9)}", "input": question(chance)},
    )


def drop_case(shop: Shop, chance: random.Random) -> None:
    if len(shop.cases) > 2:
        shop.cases.pop(chance.randrange(len(shop.cases)))


def shuffle_cases(shop: Shop, chance: random.Random) -> None:
    chance.shuffle(shop.cases)


def edit_prompt(shop: Shop, chance: random.Random) -> None:
    shop.files["data/shop/prompts/v1.md"] = chance.choice(("Hello", "Good day", "Hi"))


def edit_page(shop: Shop, chance: random.Random) -> None:
    shop.files["data/shop/documents/hours.md"] = chance.choice(("Open at nine.", "Open at ten.", "Closed."))


def edit_prices(shop: Shop, chance: random.Random) -> None:
    prices = "".join(f"{item}: {chance.randint(1, 3)}\n" for item in WORDS[5:] if chance.random() < 0.8)
    shop.files["data/shop/fixtures/prices.yaml"] = prices or "fig: 1\n"


def edit_system(shop: Shop, chance: random.Random) -> None:
    name = shop.system_file
    shop.files[name] = shop.files[name].replace("SUFFIX", f"# {chance.random()}\nSUFFIX", 1)
    if chance.random() < 0.5:
        shop.files[name] = shop.files[name].replace('SUFFIX = "."', f'SUFFIX = "{chance.choice("!?.")}"')


def edit_scorers(shop: Shop, chance: random.Random) -> None:
    name = shop.scorers_file
    shop.files[name] = shop.files[name].replace("does not", chance.choice(("lacks it", "does not", "no")))


def edit_stage(shop: Shop, chance: random.Random) -> None:
    stage = chance.choice(shop.suite["stages"])
    match chance.randint(0, 2):
        case 0:
            stage["threshold"] = chance.choice((0.3, 0.5, 1.0))
        case 1:
            stage["gating"] = chance.choice(("always", "never"))
        case _:
            name = "also" if stage["name"] == "says" else "rubric_text"
            stage["parameters"] = {name: chance.choice(("o", "Is it kind?", "Is it polite?"))}


def edit_ladder(shop: Shop, chance: random.Random) -> None:
    """A stage that asks the judge what `kind` asks comes or goes, or the stages change places."""
    stages = shop.suite["stages"]
    twins = [stage for stage in stages if stage["name"] == "kinder"]
    if chance.random() < 0.3:
        stages.reverse()
    elif twins:
        stages.remove(twins[0])
    else:
        kind = next(stage for stage in stages if stage["name"] == "kind")
        stages.append({**kind, "name": "kinder", "threshold": 0.9})


def edit_judge(shop: Shop, chance: random.Random) -> None:
    shop.suite["judge"]["settings"] = {"seed": chance.randint(1, 2)}


def edit_tone(shop: Shop, chance: random.Random) -> None:
    shop.suite["candidates"]["loud"]["parameters"] = {"tone": chance.choice(("loud", "very loud", ""))}


def edit_response(shop: Shop, chance: random.Random) -> None:
    """Another answer to something recorded, the model's or the judge's."""
    path = chance.choice(sorted(shop.recordings.glob("*/calls.jsonl")))
    lines = path.read_text().splitlines(keepends=True)
    at = chance.randrange(len(lines))
    lines[at] = lines[at].replace('{"text": "', '{"text": "1', 1)
    path.write_text("".join(lines))


def nothing(shop: Shop, chance: random.Random) -> None:
    pass


EDITS: tuple[Callable[[Shop, random.Random], None], ...] = (
    *(edit_case, add_case, drop_case, shuffle_cases, edit_prompt, edit_page, edit_prices, edit_system),
    *(edit_scorers, edit_stage, edit_ladder, edit_ladder, edit_judge, edit_tone, edit_response, nothing),
)


@pytest.mark.parametrize("seed", [1])
def test_carried_over_results_are_those_of_a_run_from_scratch(tmp_path, monkeypatch, seed):
    check_random_edits(tmp_path, monkeypatch, seed, STEPS)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 100, 101, 102])
def test_so_they_are_after_many_more_edits(tmp_path, monkeypatch, seed):
    check_random_edits(tmp_path, monkeypatch, seed, 25)


def check_random_edits(tmp_path, monkeypatch, seed: int, steps: int) -> None:
    monkeypatch.setattr("sys.dont_write_bytecode", True)
    # Several windows, the last one of another size; rows that are looked for lie in any of them.
    monkeypatch.setattr("eval_pipeline.windows.SIZE", 3)
    chance = random.Random(seed)
    shop = Shop(tmp_path)
    shop.write()
    shop.carried("new_episodes")
    earlier = [copy.deepcopy((shop.suite, shop.cases, shop.files))]
    carried = 0
    for _ in range(steps):
        if chance.random() < 0.25:  # back to what it once was
            shop.suite, shop.cases, shop.files = copy.deepcopy(chance.choice(earlier))
        for edit in chance.sample(EDITS, chance.randint(1, 2)):
            edit(shop, chance)
        earlier.append(copy.deepcopy((shop.suite, shop.cases, shop.files)))
        shop.write()
        live = shop.carried("new_episodes")
        scratch = shop.from_scratch()
        # Live calls are counted as such; all else is as a replay gives it.
        assert live.rows(live=True) == scratch.rows(live=True)
        assert shop.carried().rows() == scratch.rows()
        carried += sum(sum(table["carried_over"].to_pylist()) for table in live.traces.values())
    assert carried > 0
