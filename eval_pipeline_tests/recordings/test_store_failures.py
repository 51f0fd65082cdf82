"""Failures that are recorded like answers, and faults that are not."""

import asyncio
import os
from pathlib import Path

import pytest

from eval_pipeline.errors import (
    CallFailed,
    ProviderFault,
    RecordingFileError,
    RecordingMiss,
)
from eval_pipeline.recordings import Recordings, scope
from eval_pipeline_tests.recordings.questions import (
    CALLS,
    Model,
    ask,
    files,
    question,
    recording,
)


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


def test_where_nothing_can_be_recorded_no_call_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(os, "access", lambda path, how: False)  # as root one may write anywhere
    store, live = recording(tmp_path), Model()
    with pytest.raises(RecordingFileError, match=r"fake-one: no recording can be written here .*writable"):
        ask(store, question("Where?"), live)
    with scope("case-1"), pytest.raises(RecordingFileError, match="make the folder writable"):
        store.ask_sync(question("Where?"), live.sync)
    assert (live.calls, files(tmp_path)) == (0, [])
