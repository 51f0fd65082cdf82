import fcntl
import json
import os
import warnings
from pathlib import Path

import pytest

from eval_pipeline.errors import RecordingFileError
from eval_pipeline.recordings import TornJournalWarning
from eval_pipeline.recordings.lines import Broken, FolderReader, writer_lives
from eval_pipeline_tests.recordings.questions import entry_id, line, write_lines


def folded(tmp_path: Path, *lines: bytes, name: str = "calls.jsonl") -> Path:
    return write_lines(tmp_path / "fake-one" / name, *lines)


def ids(path: Path) -> list[str]:
    return [entry.id for entry, _ in FolderReader(path.parent).read(path)]


def refused(path: Path) -> str:
    with pytest.raises(RecordingFileError) as caught:
        list(FolderReader(path.parent).read(path))
    return str(caught.value)


def test_every_entry_comes_with_the_bytes_of_its_line(tmp_path: Path):
    path = folded(tmp_path, line(id=entry_id(1)), line(id=entry_id(2)))
    read = list(FolderReader(path.parent).read(path))
    assert [entry.id for entry, _ in read] == [entry_id(1), entry_id(2)]
    assert [raw for _, raw in read] == [line(id=entry_id(1)), line(id=entry_id(2))]


def test_a_file_that_is_not_there_has_no_lines(tmp_path: Path):
    assert ids(tmp_path / "fake-one" / "calls.jsonl") == []


def test_the_reader_knows_model_and_roles_of_what_it_read(tmp_path: Path):
    path = folded(tmp_path, line(id=entry_id(1)), line(id=entry_id(2), role="judge"))
    reader = FolderReader(path.parent)
    list(reader.read(path))
    assert (reader.model, reader.roles) == ("fake:one", {"agent", "judge"})


def test_separators_inside_a_text_do_not_end_a_line(tmp_path: Path):
    written = json.dumps(json.loads(line(words="a\u2028b\x85c")), sort_keys=True, ensure_ascii=False).encode()
    assert len(ids(folded(tmp_path, written))) == 1


@pytest.mark.parametrize(
    ("bad", "told"),
    [
        (b"", "blank line"),
        (b"{", "not JSON"),
        (b"\xff\xfe\x00", "not UTF-8"),
        (b"<<<<<<< HEAD", "git conflict marker"),
        (line(v=3), "format version 3"),
        (line(id=entry_id(1)), "duplicate id"),
    ],
)
@pytest.mark.parametrize("name", ["calls.jsonl", "journal-1-ab.jsonl"])
def test_a_broken_line_names_file_and_line(tmp_path: Path, name: str, bad: bytes, told: str):
    path = folded(tmp_path, line(id=entry_id(1)), bad, line(id=entry_id(3)), name=name)
    message = refused(path)
    assert message.startswith(f"{path}:2: ")
    assert told in message


def test_a_torn_last_line_of_a_folded_file_is_refused(tmp_path: Path):
    path = folded(tmp_path, line(id=entry_id(1)))
    path.write_bytes(path.read_bytes() + line(id=entry_id(2))[:100])
    assert refused(path) == (
        f"{path}:2: the last line is torn (100 bytes without a newline); "
        "restore the file with git, or delete the line and record again"
    )


def test_a_whole_last_line_without_its_newline_is_torn_too(tmp_path: Path):
    path = folded(tmp_path)
    path.write_bytes(line())
    assert ":1: the last line is torn" in refused(path)


def test_a_torn_last_line_of_a_journal_is_dropped_with_a_warning(tmp_path: Path):
    path = folded(tmp_path, line(id=entry_id(1)), name="journal-1-ab.jsonl")
    path.write_bytes(path.read_bytes() + line(id=entry_id(2))[:-3])
    with pytest.warns(TornJournalWarning, match=r"journal-1-ab\.jsonl: dropped its last line"):
        assert ids(path) == [entry_id(1)]


def test_a_torn_line_in_the_middle_of_a_journal_is_refused(tmp_path: Path):
    path = folded(tmp_path, line(id=entry_id(1))[:100], line(id=entry_id(2)), name="journal-1-ab.jsonl")
    assert refused(path).startswith(f"{path}:1: not JSON")


def test_a_line_that_a_living_writer_has_not_finished_is_left_out_silently(tmp_path: Path):
    path = folded(tmp_path, line(id=entry_id(1)), name="journal-1-ab.jsonl")
    with path.open("ab") as writer:
        fcntl.flock(writer, fcntl.LOCK_EX)
        writer.write(line(id=entry_id(2))[:50])
        writer.flush()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert ids(path) == [entry_id(1)]


def test_a_file_that_can_not_be_read_is_named(tmp_path: Path):
    (tmp_path / "fake-one" / "calls.jsonl").mkdir(parents=True)
    assert refused(tmp_path / "fake-one" / "calls.jsonl").endswith(
        "calls.jsonl: can't be read (Is a directory); make it a readable file"
    )


def test_two_models_that_share_a_folder_are_told_apart(tmp_path: Path):
    path = folded(tmp_path, line(id=entry_id(1)), line(id=entry_id(2), model="fake/one"))
    message = refused(path)
    assert message.startswith(f"{path}:2: model 'fake/one' in a folder that holds recordings of 'fake:one'")
    assert "rename one of the models" in message


def test_two_models_that_share_a_folder_are_told_apart_across_its_files(tmp_path: Path):
    calls = folded(tmp_path, line(id=entry_id(1)))
    other = folded(tmp_path, line(id=entry_id(2), model="fake/one"), name="journal-1-ab.jsonl")
    reader = FolderReader(calls.parent)
    list(reader.read(calls))
    with pytest.raises(
        RecordingFileError, match="'fake/one' in a folder that holds recordings of 'fake:one'"
    ):
        list(reader.read(other))


def test_a_model_in_the_folder_of_another_is_refused(tmp_path: Path):
    path = write_lines(tmp_path / "fake-two" / "calls.jsonl", line())
    assert "model 'fake:one' in a folder that holds the model with slug 'fake-two'" in refused(path)


@pytest.mark.parametrize(
    ("name", "kind", "home"), [("calls.jsonl", "embed", "embeddings"), ("embeddings.jsonl", "chat", "calls")]
)
def test_an_entry_in_the_file_of_the_other_kind_is_refused(tmp_path: Path, name: str, kind: str, home: str):
    path = folded(tmp_path, line(kind=kind), name=name)
    assert f"a '{kind}' entry, which belongs in {home}.jsonl" in refused(path)


def test_scanning_goes_on_after_a_broken_line(tmp_path: Path):
    path = folded(tmp_path, b"{", line(id=entry_id(1)), b"")
    found = list(FolderReader(path.parent).scan(path))
    assert [isinstance(one, Broken) for one in found] == [True, False, True]


def test_a_writer_lives_for_as_long_as_it_holds_the_lock(tmp_path: Path):
    path = folded(tmp_path, name="journal-1-ab.jsonl")
    assert not writer_lives(path)
    file = os.open(path, os.O_WRONLY)
    fcntl.flock(file, fcntl.LOCK_EX)
    assert writer_lives(path)
    os.close(file)
    assert not writer_lives(path)


def test_a_journal_that_vanished_has_no_writer(tmp_path: Path):
    assert not writer_lives(tmp_path / "journal-1-ab.jsonl")
