"""What nothing is recorded for: asked, looked up in a batch, or kept."""

from pathlib import Path

import pytest

from eval_pipeline.errors import (
    RecordingMiss,
)
from eval_pipeline.recordings import Recordings, read_entries, scope
from eval_pipeline_tests.recordings.questions import (
    Model,
    ask,
    embedding,
    files,
    in_scope,
    question,
    record,
    recording,
)


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
