import multiprocessing
import os
import resource
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from eval_pipeline.errors import EvalError
from eval_pipeline.recordings.folding import fold
from eval_pipeline.recordings.journal import Journal
from eval_pipeline.recordings.lines import writer_lives
from eval_pipeline.recordings.shelf import Shelf
from eval_pipeline_tests.recordings.questions import entry_id, line

SPAWN = multiprocessing.get_context("spawn")


@contextmanager
def files_no_larger_than(size: int) -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_journal_is_named_after_its_process_and_never_twice_the_same(tmp_path: Path):
    one, other = Journal(tmp_path / "fake-one"), Journal(tmp_path / "fake-one")
    assert one.path.name.startswith(f"journal-{os.getpid()}-")
    assert one.path != other.path
    one.close()
    other.close()


def test_a_line_is_on_disk_when_it_is_written(tmp_path: Path):
    journal = Journal(tmp_path)
    journal.append(b"one")
    journal.append(b"two")
    assert journal.path.read_bytes() == b"one\ntwo\n"
    journal.close()


def test_the_journal_is_locked_until_it_is_closed(tmp_path: Path):
    journal = Journal(tmp_path)
    assert writer_lives(journal.path)
    journal.close()
    assert not writer_lives(journal.path)


def test_a_line_cut_short_is_an_error_that_leaves_the_earlier_ones_whole(tmp_path: Path):
    journal = Journal(tmp_path)
    journal.append(b"a" * 100)
    with files_no_larger_than(150), pytest.raises(EvalError) as caught:
        journal.append(b"b" * 100)
    assert journal.path.read_bytes() == b"a" * 100 + b"\n"
    assert str(caught.value) == (
        f"{journal.path}: a call could not be written (File too large); make room and run again: "
        "the calls before it are kept"
    )
    journal.append(b"c")
    assert journal.path.read_bytes() == b"a" * 100 + b"\nc\n"
    journal.close()


def test_a_folder_that_can_not_be_made_is_named(tmp_path: Path):
    (tmp_path / "fake-one").write_text("a file")
    with pytest.raises(EvalError, match=r"fake-one: no recording can be written here \(File exists\); make"):
        Journal(tmp_path / "fake-one")


def fold_until_told(folder: Path, done: Connection) -> None:
    done.send("ready")
    while not done.poll():
        fold(folder)


def test_a_new_journal_is_never_one_that_a_fold_has_just_removed(tmp_path: Path):
    ours, theirs = SPAWN.Pipe()
    folder = SPAWN.Process(target=fold_until_told, args=(tmp_path, theirs))
    folder.start()
    ours.recv()
    try:
        for _ in range(1000):
            journal = Journal(tmp_path)
            assert journal.path.exists()
            journal.close()
    finally:
        ours.send("done")
        folder.join()


def test_no_line_is_lost_to_a_fold_that_meets_a_journal_just_created(tmp_path: Path):
    done = threading.Event()

    def keep_folding() -> None:
        while not done.is_set():
            fold(tmp_path / "fake-one")

    (tmp_path / "fake-one").mkdir()
    folder = threading.Thread(target=keep_folding)
    folder.start()
    for number in range(150):
        journal = Journal(tmp_path / "fake-one")
        journal.append(line(id=entry_id(number)))
        journal.close()
    done.set()
    folder.join()
    assert Shelf(tmp_path / "fake-one").lines.keys() == {entry_id(number) for number in range(150)}
