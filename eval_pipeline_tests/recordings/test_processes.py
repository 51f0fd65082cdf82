"""Recording by real processes, at once and killed."""

import multiprocessing
import os
import signal
import time
import warnings
from multiprocessing.connection import Connection
from multiprocessing.synchronize import Barrier
from pathlib import Path

from eval_pipeline.recordings import Recordings, TornJournalWarning, check_recordings, read_entries, scope
from eval_pipeline_tests.recordings.questions import Model, ask, files, question

SPAWN = multiprocessing.get_context("spawn")
SHARED = 150


def record_shared(folder: Path, name: str, together: Barrier, told: Connection) -> None:
    """Answer the shared questions with our own name, and tell what each has become after folding."""
    store = Recordings(folder, "new_episodes")
    store.recorded("fake:one")
    together.wait()
    with scope(name):
        for number in range(SHARED):
            store.ask_sync(question(f"q{number}"), lambda: {"text": name})
    together.wait()
    lost = store.close()
    with scope(name):
        answers = [store.ask_sync(question(f"q{number}"), lambda: {})["text"] for number in range(SHARED)]
    told.send((lost, answers))


def test_two_processes_that_record_the_same_at_once_agree_in_the_end(tmp_path: Path):
    together = SPAWN.Barrier(2, timeout=60)
    pipes = {name: SPAWN.Pipe(duplex=False) for name in ("one", "two")}
    processes = [
        SPAWN.Process(target=record_shared, args=(tmp_path, name, together, told), daemon=True)
        for name, (_, told) in pipes.items()
    ]
    for process in processes:
        process.start()
    for _, told in pipes.values():
        told.close()  # so that a process that dies is not waited for
    results = {name: receiving.recv() for name, (receiving, _) in pipes.items()}
    for process in processes:
        process.join()
    ids = {f"{question(f'q{number}').key}:0.0:0" for number in range(SHARED)}
    (winner,) = {entry.response["text"] for entry in read_entries(tmp_path)}
    (loser,) = {"one", "two"} - {winner}
    assert results[winner] == (frozenset(), [winner] * SHARED)
    assert results[loser] == (ids, [winner] * SHARED)
    assert {entry.id: entry.cases for entry in read_entries(tmp_path)} == dict.fromkeys(ids, ("one", "two"))
    assert files(tmp_path) == ["fake-one/calls.jsonl"]


def record_until_killed(folder: Path, told: Connection) -> None:
    store = Recordings(folder, "new_episodes")
    for number in range(10_000):
        with scope("case-1"):
            store.ask_sync(question(f"q{number}"), lambda: {"text": "x" * 2_000_000})
        told.send(number)


def test_killing_a_recording_loses_nothing_it_had_acknowledged(tmp_path: Path):
    acknowledged = []
    for _ in range(3):
        receiving, told = SPAWN.Pipe(duplex=False)
        process = SPAWN.Process(target=record_until_killed, args=(tmp_path, told), daemon=True)
        process.start()
        told.close()
        for _ in range(4):
            acknowledged.append(receiving.recv())
        assert process.pid is not None
        os.kill(process.pid, signal.SIGKILL)
        process.join()
        while receiving.poll():
            try:
                acknowledged.append(receiving.recv())
            except EOFError:
                break
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TornJournalWarning)  # a torn tail is likely, not certain
        replayed = Recordings(tmp_path)
        for number in set(acknowledged):
            ask(replayed, question(f"q{number}"), Model())
        following = Recordings(tmp_path, "new_episodes")
        ask(following, question("one more"), Model())
        following.close()
    assert check_recordings(tmp_path) == []
    assert files(tmp_path) == ["fake-one/calls.jsonl"]
    ids = {entry.id for entry in read_entries(tmp_path)}
    assert ids >= {f"{question(f'q{number}').key}:0.0:0" for number in set(acknowledged)}


def record_and_fold(folder: Path, told: Connection) -> None:
    for number in range(60):
        store = Recordings(folder, "new_episodes")
        with scope("case-1"):
            store.ask_sync(question(f"q{number}"), lambda: {"text": "here"})
        told.send(number)
        store.close()
    told.close()


def test_who_reads_while_another_folds_finds_all_that_was_acknowledged(tmp_path: Path):
    receiving, told = SPAWN.Pipe(duplex=False)
    process = SPAWN.Process(target=record_and_fold, args=(tmp_path, told), daemon=True)
    process.start()
    told.close()
    acknowledged, reads = 0, 0
    deadline = time.monotonic() + 60
    while acknowledged < 60 and time.monotonic() < deadline:
        while receiving.poll():
            try:
                acknowledged = receiving.recv() + 1
            except EOFError:
                break
        expected = {f"{question(f'q{number}').key}:0.0:0" for number in range(acknowledged)}
        assert {entry.id for entry in read_entries(tmp_path)} >= expected
        reads += 1
    process.join()
    assert acknowledged == 60
    assert reads > 10
