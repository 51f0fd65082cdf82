"""Folding into the sorted files, by several processes, after kills and failed writes."""

import asyncio
from pathlib import Path

import pytest

from eval_pipeline.errors import (
    CallFailed,
    RecordingFileError,
)
from eval_pipeline.recordings import Recordings, TornJournalWarning, read_entries
from eval_pipeline_tests.recordings.questions import (
    CALLS,
    Model,
    Slow,
    ask,
    asked_by,
    embedding,
    entry_id,
    files,
    line,
    question,
    record,
    recording,
    write_lines,
)


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
