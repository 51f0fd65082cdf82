"""Whose ask it is: repeats, ordinals, and what a run counts."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eval_pipeline.recordings import Recordings, read_entries, scope
from eval_pipeline_tests.recordings.questions import (
    Model,
    ask,
    embedding,
    in_scope,
    question,
    recording,
)


def test_the_id_is_key_repeats_and_ordinal(tmp_path: Path):
    store, request = recording(tmp_path), question("Where?")
    with scope("case-1", repeat=2, judge_repeat=3) as opened:
        store.ask_sync(request, Model().sync)
        store.ask_sync(request, Model().sync)
    assert opened.used == [f"{request.key}:2.3:0", f"{request.key}:2.3:1"]
    assert store.used == set(opened.used)


def test_asking_the_same_again_in_one_run_is_another_call(tmp_path: Path):
    def run(store: Recordings, live: Model) -> list[dict]:
        return [store.ask_sync(question("Where?"), live.sync) for _ in range(3)]

    store = recording(tmp_path)
    assert in_scope(lambda: run(store, Model())) == [{"text": f"answer {n}"} for n in (1, 2, 3)]
    assert in_scope(lambda: run(Recordings(tmp_path), Model())) == [
        {"text": f"answer {n}"} for n in (1, 2, 3)
    ]


def test_the_same_question_of_another_case_shares_the_answer(tmp_path: Path):
    store, live = recording(tmp_path), Model()
    assert ask(store, question("Where?"), live, "b") == ask(store, question("Where?"), live, "a")
    store.close()
    (entry,) = read_entries(tmp_path)
    assert entry.cases == ("a", "b")


def test_a_text_is_embedded_once_whatever_the_repeat(tmp_path: Path):
    store, live = recording(tmp_path), Model()
    for repeat in (0, 1):
        ask(store, embedding("page"), live, repeat=repeat)
    in_scope(lambda: [store.ask_sync(embedding("page"), live.sync) for _ in range(2)])
    assert live.calls == 1
    assert store.used == {f"{embedding('page').key}:0.0:0"}


asks = st.tuples(st.integers(0, 2), st.integers(0, 1), st.sampled_from(["Where?", "When?"]))


@settings(deadline=None, max_examples=40)
@given(st.lists(asks, max_size=12), st.randoms())
def test_repeats_and_ordinals_replay_right_in_any_order_of_the_runs(
    tmp_path_factory: pytest.TempPathFactory, asked: list[tuple[int, int, str]], random: Any
):
    folder = tmp_path_factory.mktemp("recordings")

    def run(store: Recordings, live: Model, repeat: int, judge_repeat: int) -> list[str]:
        with scope("case-1", repeat=repeat, judge_repeat=judge_repeat):
            return [
                store.ask_sync(question(words), live.sync)["text"]
                for *where, words in asked
                if where == [repeat, judge_repeat]
            ]

    runs = [(repeat, judge_repeat) for repeat in range(3) for judge_repeat in range(2)]
    store, live = recording(folder), Model()
    recorded = {where: run(store, live, *where) for where in runs}
    store.close()
    random.shuffle(runs)
    replayed = Recordings(folder)
    assert {where: run(replayed, Model(), *where) for where in runs} == recorded
    assert live.calls == len(asked)


def test_calls_and_tokens_are_counted_live_and_on_replay(tmp_path: Path):
    reply = {"text": "here", "usage": {"input_tokens": 30, "output_tokens": 4}}
    for store, called in ((recording(tmp_path), 1), (Recordings(tmp_path), 0)):
        with scope("case-1") as opened:
            store.ask_sync(question("Where?"), Model(dict(reply)).sync)
        assert (opened.calls, opened.called, opened.input_tokens, opened.output_tokens) == (1, called, 30, 4)


def test_tokens_of_embeddings_do_not_count(tmp_path: Path):
    store = recording(tmp_path)
    with scope("case-1") as opened:
        live = Model({"vector": "AAAA", "usage": {"input_tokens": 30, "output_tokens": 0}})
        store.ask_sync(embedding("page"), live.sync)
    assert (opened.calls, opened.called, opened.input_tokens) == (1, 1, 0)
