"""What is answered from the recording, and what is recorded, in each mode."""

from pathlib import Path
from typing import Any

import pytest

from eval_pipeline.errors import (
    InputError,
    RecordingFileError,
    RecordingMiss,
)
from eval_pipeline.recordings import Recordings, read_entries
from eval_pipeline_tests.recordings.questions import (
    CALLS,
    Model,
    ask,
    files,
    in_scope,
    question,
    record,
    recording,
    write_lines,
)


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
