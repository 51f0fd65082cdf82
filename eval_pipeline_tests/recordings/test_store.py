import asyncio
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eval_pipeline.errors import (
    CallFailed,
    InputError,
    ProviderFault,
    RecordingFileError,
    RecordingMiss,
)
from eval_pipeline.recordings import Recordings, Request, TornJournalWarning, read_entries, scope
from eval_pipeline_tests.recordings.questions import (
    Model,
    ask,
    embedding,
    entry_id,
    files,
    line,
    question,
    record,
    write_lines,
)

CALLS = "fake-one/calls.jsonl"


def recording(folder: Path, **options: Any) -> Recordings:
    return Recordings(folder, "new_episodes", **options)


def in_scope(work: Callable[[], Any], case: str = "case-1", **where: Any) -> Any:
    with scope(case, **where):
        return work()


# --- replay and recording


def test_what_was_recorded_is_answered_without_a_call(tmp_path: Path):
    record(tmp_path, question("Where?"))
    live = Model()
    assert ask(Recordings(tmp_path), question("Where?"), live) == {"text": "answer 1"}
    assert live.calls == 0


def test_a_recording_mode_calls_only_what_is_missing(tmp_path: Path):
    record(tmp_path, question("Where?"))
    store, live = recording(tmp_path), Model({"text": "now"})
    assert ask(store, question("Where?"), live) == {"text": "answer 1"}
    assert ask(store, question("When?"), live) == {"text": "now"}
    assert live.calls == 1


def test_a_response_is_on_disk_before_it_is_returned(tmp_path: Path):
    ask(recording(tmp_path), question("Where?"), Model())
    assert ask(Recordings(tmp_path), question("Where?"), Model()) == {"text": "answer 1"}


def test_mode_all_reuses_what_this_process_has_asked(tmp_path: Path):
    store, live = Recordings(tmp_path, "all"), Model()
    assert ask(store, question("Where?"), live) == ask(store, question("Where?"), live)
    assert live.calls == 1


def test_mode_none_writes_and_creates_nothing(tmp_path: Path):
    record(tmp_path / "recorded", question("Where?"), case="case-1")
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    store = Recordings(tmp_path / "recorded")
    ask(store, question("Where?"), Model(), "case-2")
    with pytest.raises(RecordingMiss):
        ask(store, question("When?"), Model())
    with pytest.raises(RecordingMiss):
        in_scope(lambda: store.keep(question("When?"), {"text": "x"}, latency_ms=1))
    assert store.close() == frozenset()
    with pytest.raises(RecordingMiss):
        ask(Recordings(tmp_path / "absent"), question("Where?"), Model())
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == before


def test_an_unknown_mode_is_refused():
    with pytest.raises(InputError, match="unknown recording mode 'once'; use one of none, new_episodes, all"):
        Recordings(Path("anywhere"), "once")  # type: ignore[arg-type]


def test_only_the_folder_of_the_model_asked_is_read(tmp_path: Path):
    record(tmp_path, question("Where?"))
    write_lines(tmp_path / "fake-two" / "calls.jsonl", b"{")
    assert ask(Recordings(tmp_path), question("Where?"), Model()) == {"text": "answer 1"}


def test_a_broken_recording_is_an_error_and_never_recorded_again(tmp_path: Path):
    path = write_lines(tmp_path / CALLS, b"{")
    live = Model()
    with pytest.raises(RecordingFileError, match=r"calls\.jsonl:1: not JSON"):
        ask(recording(tmp_path), question("Where?"), live)
    assert live.calls == 0
    assert path.read_bytes() == b"{\n"


def test_a_response_comes_back_live_as_it_will_on_replay(tmp_path: Path):
    live = Model({"list": (1, 2), "by": {3: "key"}, "text": "\ud83d\ude00"})
    now = ask(recording(tmp_path), question("Where?"), live)
    assert now == {"list": [1, 2], "by": {"3": "key"}, "text": "😀"}
    assert ask(Recordings(tmp_path), question("Where?"), Model()) == now


@pytest.mark.parametrize(
    "response", [{"score": float("nan")}, {"at": {1, 2}}, {"x": b"bytes"}, None, ["text"]]
)
def test_a_response_that_is_no_plain_json_is_refused_and_not_stored(tmp_path: Path, response: Any):
    with pytest.raises(TypeError, match="a response of fake:one can't be recorded"):
        ask(recording(tmp_path), question("Where?"), Model(response))
    assert files(tmp_path) == []


def test_changing_a_response_does_not_change_the_next_one(tmp_path: Path):
    store = recording(tmp_path)
    ask(store, question("Where?"), Model({"tool_calls": [{"name": "search"}]}))["tool_calls"].clear()
    ask(store, question("Where?"), Model())["tool_calls"].clear()
    assert ask(store, question("Where?"), Model()) == {"tool_calls": [{"name": "search"}]}


def test_unusual_text_is_recorded_and_replayed(tmp_path: Path):
    texts = ["Grüße 世界", "\x00", "\ud800", "a\u2028b\x85c", "\\", "x" * 300]
    for text in texts:
        record(tmp_path, question(text), case=text)
        assert ask(Recordings(tmp_path), question(text), Model(), text) == {"text": "answer 1"}
    assert sorted(entry.cases[0] for entry in read_entries(tmp_path)) == sorted(texts)


def test_a_model_with_a_long_unusual_name_is_recorded_and_replayed(tmp_path: Path):
    request = question("Where?", model="openai:../ä/" + "m" * 300)
    record(tmp_path, request)
    assert ask(Recordings(tmp_path), request, Model()) == {"text": "answer 1"}


def test_two_models_whose_names_give_one_folder_are_refused(tmp_path: Path):
    record(tmp_path, question("Where?", model="fake:one"))
    with pytest.raises(
        RecordingFileError, match="holds recordings of 'fake:one', and 'fake/one' would share"
    ):
        ask(recording(tmp_path), question("Where?", model="fake/one"), Model())


def test_two_models_whose_names_give_one_folder_are_refused_before_anything_is_folded(tmp_path: Path):
    store = recording(tmp_path)
    ask(store, question("Where?", model="fake:one"), Model())
    with pytest.raises(RecordingFileError, match="rename one of the models"):
        ask(store, question("Where?", model="fake/one"), Model())


def test_recorded_knows_what_each_model_was_asked_as(tmp_path: Path):
    record(tmp_path, question("Where?"), role="judge")
    store = recording(tmp_path)
    assert (store.recorded("fake:one"), store.recorded("fake:one", "judge")) == (False, True)
    assert not store.recorded("fake:two")
    ask(store, question("Where?", model="fake:two"), Model())
    assert store.recorded("fake:two")


def test_an_entry_tells_its_reviewer_what_was_asked_by_whom(tmp_path: Path):
    record(tmp_path, question("Where are\nthe backups?"), case="case-7", role="judge", label="faithfulness")
    (entry,) = read_entries(tmp_path)
    assert (entry.role, entry.label, entry.cases) == ("judge", "faithfulness", ("case-7",))
    assert (entry.model, entry.words, entry.kind) == ("fake:one", "Where are the backups?", "chat")


# --- ids: repeats and ordinals


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


# --- misses


def test_a_miss_swallowed_on_the_way_is_raised_by_every_later_ask(tmp_path: Path):
    record(tmp_path, question("Where?"))
    store = Recordings(tmp_path)
    with scope("case-1") as opened:
        with pytest.raises(RecordingMiss) as first:
            store.ask_sync(question("When?"), Model().sync)
        with pytest.raises(RecordingMiss) as second:
            store.ask_sync(question("Where?"), Model().sync)
        with pytest.raises(RecordingMiss) as third:
            store.miss(question("Who?"))
    assert first.value is second.value is third.value
    assert opened.misses == [first.value]


def test_a_miss_of_one_run_does_not_touch_another(tmp_path: Path):
    record(tmp_path, question("Where?"))
    store = Recordings(tmp_path)
    with pytest.raises(RecordingMiss):
        ask(store, question("When?"), Model())
    assert ask(store, question("Where?"), Model()) == {"text": "answer 1"}


# --- batches


def test_a_lookup_answers_what_is_recorded_and_counts_it_as_used(tmp_path: Path):
    record(tmp_path, embedding("page"))
    store = Recordings(tmp_path)
    with scope("documents") as opened:
        assert store.lookup(embedding("page")) == {"text": "answer 1"}
        assert store.lookup(embedding("other")) is None
    assert opened.used == list(store.used) == [f"{embedding('page').key}:0.0:0"]
    assert (opened.calls, opened.called, opened.misses) == (1, 0, [])


def test_a_response_kept_after_a_lookup_is_found_by_the_next_one(tmp_path: Path):
    store = recording(tmp_path)
    with scope("documents", label="documents") as opened:
        assert store.lookup(embedding("page")) is None
        assert store.keep(embedding("page"), {"vector": "AAAA"}, latency_ms=7.2) == {"vector": "AAAA"}
    assert (opened.calls, opened.called) == (1, 1)
    store.close()
    assert files(tmp_path) == ["fake-one/embeddings.jsonl"]
    (entry,) = read_entries(tmp_path)
    assert (entry.label, entry.latency_ms, entry.kind) == ("documents", 7, "embed")
    assert in_scope(lambda: Recordings(tmp_path).lookup(embedding("page"))) == {"vector": "AAAA"}


def test_lookups_of_a_chat_that_find_nothing_do_not_count_as_asked(tmp_path: Path):
    store = recording(tmp_path)
    with scope("case-1") as opened:
        assert store.lookup(question("Where?")) is None
        assert store.lookup(question("Where?")) is None
        store.keep(question("Where?"), {"text": "here"}, latency_ms=1)
    assert opened.used == [f"{question('Where?').key}:0.0:0"]


def test_keeping_what_is_recorded_already_gives_back_the_recorded_response(tmp_path: Path):
    record(tmp_path, embedding("page"))
    store = recording(tmp_path)
    assert in_scope(lambda: store.keep(embedding("page"), {"text": "other"}, latency_ms=1)) == {
        "text": "answer 1"
    }


def test_miss_says_what_differs(tmp_path: Path):
    record(tmp_path, embedding("page"))
    store = Recordings(tmp_path)
    with pytest.raises(RecordingMiss, match="text changed"):
        in_scope(lambda: store.miss(embedding("new page")))


# --- failures


def test_a_terminal_failure_is_recorded_and_raised_again_on_replay(tmp_path: Path):
    store = recording(tmp_path)
    for asked, live in ((store, Model(CallFailed("blocked", "unsafe"))), (Recordings(tmp_path), Model())):
        with pytest.raises(CallFailed) as caught:
            ask(asked, question("Where?"), live)
        assert (caught.value.kind, caught.value.message) == ("blocked", "unsafe")
        assert live.calls == (asked is store)


def test_a_recorded_failure_counts_as_an_answer(tmp_path: Path):
    store = recording(tmp_path)
    with scope("case-1") as opened:
        with pytest.raises(CallFailed):
            store.ask_sync(question("Where?"), Model(CallFailed("blocked", "unsafe")).sync)
        store.ask_sync(question("Where?"), Model().sync)
    assert opened.used == [f"{question('Where?').key}:0.0:{ordinal}" for ordinal in (0, 1)]
    assert (opened.calls, opened.called) == (2, 2)


def test_retry_errors_asks_failures_again_and_replaces_them(tmp_path: Path):
    store = recording(tmp_path)
    with pytest.raises(CallFailed):
        ask(store, question("Where?"), Model(CallFailed("blocked", "unsafe")))
    ask(store, question("When?"), Model())
    store.close()
    again, live = recording(tmp_path, retry_errors=True), Model({"text": "safe now"})
    assert ask(again, question("Where?"), live) == {"text": "safe now"}
    assert ask(again, question("When?"), live) == {"text": "answer 1"}
    assert again.close() == frozenset()
    assert ask(Recordings(tmp_path), question("Where?"), Model()) == {"text": "safe now"}


def test_retry_errors_replaces_a_failure_with_a_new_failure_and_asks_just_once(tmp_path: Path):
    with pytest.raises(CallFailed):
        ask(recording(tmp_path), question("Where?"), Model(CallFailed("blocked", "old")))
    again, live = recording(tmp_path / ".", retry_errors=True), Model(CallFailed("blocked", "new"))
    for _ in range(2):
        with pytest.raises(CallFailed, match="new"):
            ask(again, question("Where?"), live)
    assert live.calls == 1


def test_retry_errors_without_recording_says_what_is_missing(tmp_path: Path):
    with pytest.raises(CallFailed):
        ask(recording(tmp_path), question("Where?"), Model(CallFailed("blocked", "unsafe")))
    with pytest.raises(RecordingMiss, match=r"recorded as a failure, .* asked again \(blocked: unsafe\)"):
        ask(Recordings(tmp_path, retry_errors=True), question("Where?"), Model())


@pytest.mark.parametrize(
    "fault", [ProviderFault("timeout", "30 s"), RuntimeError("bug"), asyncio.CancelledError()]
)
def test_any_other_fault_is_raised_and_not_recorded(tmp_path: Path, fault: BaseException):
    with pytest.raises(type(fault)):
        ask(recording(tmp_path), question("Where?"), Model(fault))
    assert files(tmp_path) == []


def test_asking_again_after_a_fault_replays_as_asked_once(tmp_path: Path):
    store, live = recording(tmp_path), Model(ProviderFault("timeout", "30 s"), {"text": "here"})
    with scope("case-1") as opened:
        with pytest.raises(ProviderFault):
            store.ask_sync(question("Where?"), live.sync)
        store.ask_sync(question("Where?"), live.sync)
    assert (opened.calls, opened.called) == (1, 1)
    assert ask(Recordings(tmp_path), question("Where?"), Model()) == {"text": "here"}


def test_no_credential_of_a_failure_is_stored(tmp_path: Path):
    store = recording(tmp_path)
    with pytest.raises(CallFailed, match=r"key=\*\*\*"):
        ask(store, question("Where?"), Model(CallFailed("refused", "https://host/?key=abc123")))
    store.close()
    assert b"abc123" not in (tmp_path / CALLS).read_bytes()


# --- counting


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


# --- identical questions at once


class Slow:
    """Answers once it is released."""

    def __init__(self, fault: Exception | None = None) -> None:
        self.calls = 0
        self.fault = fault
        self.started = asyncio.Event()
        self.release = asyncio.Event()

    async def __call__(self) -> dict[str, Any]:
        self.calls += 1
        self.started.set()
        await self.release.wait()
        if self.fault is not None:
            raise self.fault
        return {"text": f"answer {self.calls}"}


async def asked_by(store: Recordings, case: str, request: Request, live: Any) -> tuple[dict, int, int]:
    with scope(case) as opened:
        response = await store.ask(request, live)
    return response, opened.calls, opened.called


def test_identical_questions_at_once_make_one_call_that_counts_for_one(tmp_path: Path):
    async def run() -> tuple[list, int]:
        store, live = recording(tmp_path), Slow()
        tasks = [
            asyncio.create_task(asked_by(store, f"case-{n}", question("Where?"), live)) for n in range(20)
        ]
        await live.started.wait()
        live.release.set()
        return await asyncio.gather(*tasks), live.calls

    answers, calls = asyncio.run(run())
    assert calls == 1
    assert [answer for answer, *_ in answers] == [{"text": "answer 1"}] * 20
    assert [counted for _, *counted in answers] == [[1, 1]] + [[1, 0]] * 19


def test_all_the_cases_that_waited_are_listed(tmp_path: Path):
    async def run() -> None:
        store = recording(tmp_path)
        await asyncio.gather(*(asked_by(store, case, question("Where?"), Model()) for case in "cab"))
        store.close()

    asyncio.run(run())
    (entry,) = read_entries(tmp_path)
    assert entry.cases == ("a", "b", "c")


@pytest.mark.parametrize("fault", [ProviderFault("timeout", "30 s"), CallFailed("blocked", "unsafe")])
def test_a_fault_or_failure_is_raised_for_all_who_wait(tmp_path: Path, fault: Exception):
    async def run() -> tuple[list, int]:
        store, live = recording(tmp_path), Slow(fault)
        tasks = [
            asyncio.create_task(asked_by(store, f"case-{n}", question("Where?"), live)) for n in range(3)
        ]
        await live.started.wait()
        live.release.set()
        return await asyncio.gather(*tasks, return_exceptions=True), live.calls

    raised, calls = asyncio.run(run())
    assert calls == 1
    assert [str(error) for error in raised] == [str(fault)] * 3
    assert {type(error) for error in raised} == {type(fault)}


def test_when_the_caller_is_cancelled_one_who_waits_takes_over(tmp_path: Path):
    async def run() -> tuple[list, int]:
        store, live = recording(tmp_path), Slow()
        tasks = [
            asyncio.create_task(asked_by(store, f"case-{n}", question("Where?"), live)) for n in range(4)
        ]
        await live.started.wait()
        tasks[0].cancel()
        await asyncio.sleep(0)
        live.release.set()
        return await asyncio.gather(*tasks, return_exceptions=True), live.calls

    (cancelled, *others), calls = asyncio.run(run())
    assert isinstance(cancelled, asyncio.CancelledError)
    assert calls == 2
    assert [answer for answer, *_ in others] == [{"text": "answer 2"}] * 3
    assert sum(called for *_, called in others) == 1


def test_when_one_who_waits_is_cancelled_the_call_goes_on(tmp_path: Path):
    async def run() -> tuple[list, int]:
        store, live = recording(tmp_path), Slow()
        tasks = [
            asyncio.create_task(asked_by(store, f"case-{n}", question("Where?"), live)) for n in range(3)
        ]
        await live.started.wait()
        tasks[1].cancel()
        await asyncio.sleep(0)
        live.release.set()
        return await asyncio.gather(*tasks, return_exceptions=True), live.calls

    (first, cancelled, last), calls = asyncio.run(run())
    assert isinstance(cancelled, asyncio.CancelledError)
    assert (first[0], last[0], calls) == ({"text": "answer 1"}, {"text": "answer 1"}, 1)


def test_identical_questions_of_one_run_at_once_are_several_calls(tmp_path: Path):
    async def run() -> tuple[list[str], int]:
        store, live = recording(tmp_path), Model()
        with scope("case-1"):
            answers = await asyncio.gather(*(store.ask(question("Where?"), live) for _ in range(3)))
        return sorted(answer["text"] for answer in answers), live.calls

    assert asyncio.run(run()) == (["answer 1", "answer 2", "answer 3"], 3)


def test_threads_that_ask_the_same_at_once_make_one_call(tmp_path: Path):
    store, together, calls = recording(tmp_path), threading.Barrier(8), []

    def live() -> dict[str, Any]:
        calls.append(1)
        together.wait()  # all have asked, or are about to, when the answer comes
        return {"text": "here"}

    def run() -> None:
        with scope("case-1"):
            if threading.current_thread() is not threads[0]:
                together.wait()
            answers.append(store.ask_sync(question("Where?"), live))

    answers: list[dict] = []
    threads = [threading.Thread(target=run) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(calls) == 1
    assert answers == [{"text": "here"}] * 8


def test_code_that_can_not_wait_for_a_call_of_its_own_loop_makes_another(tmp_path: Path):
    async def run() -> tuple[dict, dict]:
        store, slow = recording(tmp_path), Slow()
        waiting = asyncio.create_task(asked_by(store, "case-1", question("Where?"), slow))
        await slow.started.wait()
        now = in_scope(lambda: store.ask_sync(question("Where?"), Model({"text": "at once"}).sync), "case-2")
        slow.release.set()
        return now, (await waiting)[0]

    assert asyncio.run(run()) == ({"text": "at once"}, {"text": "at once"})


def test_a_store_outlives_its_event_loop(tmp_path: Path):
    store, live = recording(tmp_path), Model()
    ask(store, question("Where?"), live)
    ask(store, question("When?"), live)
    assert live.calls == 2


# --- folding


def test_close_leaves_only_the_sorted_files(tmp_path: Path):
    record(tmp_path, question("Where?"), embedding("page"))
    assert files(tmp_path) == [CALLS, "fake-one/embeddings.jsonl"]


def test_a_closed_store_goes_on_recording(tmp_path: Path):
    store = recording(tmp_path)
    ask(store, question("Where?"), Model())
    store.close()
    ask(store, question("When?"), Model())
    store.close()
    assert len(list(read_entries(tmp_path))) == 2


def test_replaying_in_a_recording_mode_rewrites_nothing(tmp_path: Path):
    record(tmp_path, question("Where?"))
    before = (tmp_path / CALLS).stat().st_mtime_ns
    store = recording(tmp_path)
    ask(store, question("Where?"), Model())
    store.close()
    assert (tmp_path / CALLS).stat().st_mtime_ns == before


def test_a_further_case_is_listed_when_a_recording_mode_meets_it(tmp_path: Path):
    record(tmp_path, question("Where?"), case="b")
    store = recording(tmp_path)
    ask(store, question("Where?"), Model(), "a")
    store.close()
    (entry,) = read_entries(tmp_path)
    assert entry.cases == ("a", "b")
    assert entry.response == {"text": "answer 1"}


def two_at_once(folder: Path) -> tuple[Recordings, Recordings]:
    """Two that have both read the folder before either records."""
    stores = recording(folder), recording(folder)
    for store in stores:
        store.recorded("fake:one")
    return stores


def test_the_first_to_fold_wins_and_the_other_is_told_which_ids_it_lost(tmp_path: Path):
    first, second = two_at_once(tmp_path)
    ask(second, question("Where?"), Model({"text": "second"}), "b")
    ask(second, question("When?"), Model({"text": "the same"}), "b")
    ask(first, question("Where?"), Model({"text": "first"}), "a")
    ask(first, question("When?"), Model({"text": "the same"}), "a")
    ask(first, question("Who?"), Model({"text": "first alone"}), "a")
    assert first.close() == frozenset()
    assert second.close() == {f"{question('Where?').key}:0.0:0"}
    responses = {entry.words: (entry.response["text"], entry.cases) for entry in read_entries(tmp_path)}
    assert responses == {
        "Where?": ("first", ("a", "b")),
        "When?": ("the same", ("a", "b")),
        "Who?": ("first alone", ("a",)),
    }


def test_rows_run_again_after_a_lost_fold_get_the_recorded_response(tmp_path: Path):
    first, second = two_at_once(tmp_path)
    ask(second, question("Where?"), Model({"text": "second"}))
    ask(first, question("Where?"), Model({"text": "first"}))
    first.close()
    second.close()
    live = Model()
    assert ask(second, question("Where?"), live) == {"text": "first"}
    assert live.calls == 0
    assert second.close() == frozenset()


def test_a_failure_recorded_first_by_another_process_stays_too(tmp_path: Path):
    first, second = two_at_once(tmp_path)
    ask(second, question("Where?"), Model({"text": "second"}))
    with pytest.raises(CallFailed):
        ask(first, question("Where?"), Model(CallFailed("blocked", "unsafe")))
    first.close()
    assert second.close() == {f"{question('Where?').key}:0.0:0"}
    with pytest.raises(CallFailed):
        ask(Recordings(tmp_path), question("Where?"), Model())


def test_using_what_another_process_recorded_and_then_lost_is_told_as_well(tmp_path: Path):
    winner, loser = two_at_once(tmp_path)
    ask(loser, question("Where?"), Model({"text": "lost"}))
    reader = recording(tmp_path)
    assert ask(reader, question("Where?"), Model()) == {"text": "lost"}
    ask(reader, question("When?"), Model())
    ask(winner, question("Where?"), Model({"text": "won"}))
    winner.close()
    assert reader.close() == {f"{question('Where?').key}:0.0:0"}


def test_journals_left_by_killed_processes_are_read_and_then_folded_by_the_next_recording(tmp_path: Path):
    store = recording(tmp_path)
    ask(store, question("Where?"), Model())
    (journal,) = (tmp_path / "fake-one").glob("journal-*")
    killed = tmp_path / "killed"
    write_lines(killed / "fake-one" / "journal-1-a.jsonl", *journal.read_bytes().splitlines())
    write_lines(killed / "fake-two" / "journal-1-a.jsonl", line(id=entry_id(1), model="fake:two"))
    assert ask(Recordings(killed), question("Where?"), Model()) == {"text": "answer 1"}
    following = recording(killed)
    assert ask(following, question("Where?"), Model()) == {"text": "answer 1"}
    following.close()
    assert files(killed) == [CALLS, "fake-two/calls.jsonl"]


def test_mode_none_leaves_journals_where_they_are(tmp_path: Path):
    write_lines(tmp_path / "fake-one" / "journal-1-a.jsonl", line())
    store = Recordings(tmp_path)
    assert store.recorded("fake:one")
    store.close()
    assert files(tmp_path) == ["fake-one/journal-1-a.jsonl"]


def test_a_call_torn_off_in_a_journal_is_dropped_with_a_warning_and_asked_again(tmp_path: Path):
    store = recording(tmp_path / "whole")
    ask(store, question("Where?"), Model())
    ask(store, question("When?"), Model())
    (journal,) = (tmp_path / "whole" / "fake-one").glob("journal-*")
    killed = tmp_path / "killed" / "fake-one" / "journal-1-a.jsonl"
    write_lines(killed)
    killed.write_bytes(journal.read_bytes()[:-20])
    following, live = recording(tmp_path / "killed"), Model({"text": "again"})
    with pytest.warns(TornJournalWarning):
        assert ask(following, question("Where?"), live) == {"text": "answer 1"}
    assert ask(following, question("When?"), live) == {"text": "again"}
    with pytest.warns(TornJournalWarning):
        following.close()
    assert len(list(read_entries(tmp_path / "killed"))) == 2


def test_a_journal_that_vanishes_while_the_folder_is_read_is_no_error(tmp_path: Path):
    record(tmp_path, question("Where?"))
    (tmp_path / "fake-one" / "journal-1-a.jsonl").symlink_to(tmp_path / "folded-by-another")
    assert ask(Recordings(tmp_path), question("Where?"), Model()) == {"text": "answer 1"}


def test_a_fold_that_fails_keeps_the_calls_for_the_next_recording(tmp_path: Path):
    store = recording(tmp_path)
    ask(store, question("Where?"), Model())
    write_lines(tmp_path / CALLS, b"{")
    with pytest.raises(RecordingFileError):
        store.close()
    (tmp_path / CALLS).unlink()
    following = recording(tmp_path)
    assert ask(following, question("Where?"), Model()) == {"text": "answer 1"}
    following.close()
    assert files(tmp_path) == [CALLS]


def test_a_call_that_can_not_be_written_is_raised_for_all_and_not_answered(tmp_path: Path):
    async def run() -> list:
        store, live = recording(tmp_path), Slow()
        tasks = [
            asyncio.create_task(asked_by(store, f"case-{n}", question("Where?"), live)) for n in range(3)
        ]
        await live.started.wait()
        (tmp_path / "fake-one").write_text("in the way")
        live.release.set()
        return await asyncio.gather(*tasks, return_exceptions=True)

    told = [str(error) for error in asyncio.run(run())]
    assert (
        told
        == [f"{tmp_path}/fake-one: no recording can be written here (File exists); make the folder writable"]
        * 3
    )


def test_recording_in_another_order_gives_the_same_file(tmp_path: Path):
    words = ["Where?", "When?", "Who?", "Why?"]
    contents = []
    for folder, order in ((tmp_path / "one", words), (tmp_path / "other", words[::-1])):
        for word in order:
            store = recording(folder)
            ask(store, question(word), Model({"text": word}), f"case-{word}")
            store.close()
        contents.append([entry.words for entry in read_entries(folder)])
    assert contents[0] == contents[1] == ["When?", "Where?", "Who?", "Why?"]
