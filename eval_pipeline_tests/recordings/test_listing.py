from pathlib import Path

import pytest

from eval_pipeline.errors import EvalError
from eval_pipeline.recordings import check_recordings, prune, read_entries
from eval_pipeline.recordings.journal import Journal
from eval_pipeline_tests.recordings.questions import entry_id, files, line, write_lines


def test_every_entry_is_listed_model_by_model(tmp_path: Path):
    write_lines(tmp_path / "fake-two" / "calls.jsonl", line(id=entry_id(4), model="fake:two"))
    write_lines(tmp_path / "fake-one" / "calls.jsonl", line(id=entry_id(2)), line(id=entry_id(1)))
    write_lines(tmp_path / "fake-one" / "embeddings.jsonl", line(id=entry_id(3), kind="embed"))
    write_lines(tmp_path / "fake-one" / "journal-1-a.jsonl", line(id=entry_id(5)))
    assert [entry.id for entry in read_entries(tmp_path)] == [entry_id(number) for number in (2, 1, 3, 5, 4)]


def test_nothing_recorded_lists_nothing_and_has_no_problems(tmp_path: Path):
    assert list(read_entries(tmp_path / "absent")) == []
    assert check_recordings(tmp_path / "absent") == []


def test_whole_recordings_have_no_problems(tmp_path: Path):
    write_lines(tmp_path / "fake-one" / "calls.jsonl", line(id=entry_id(1)))
    assert check_recordings(tmp_path) == []


def test_every_broken_line_of_every_file_is_a_problem(tmp_path: Path):
    one = write_lines(tmp_path / "fake-one" / "calls.jsonl", b"{", line(id=entry_id(1)), line(v=2))
    other = write_lines(tmp_path / "fake-two" / "embeddings.jsonl", b"")
    found = [problem.split("; ")[0] for problem in check_recordings(tmp_path)]
    assert [problem[: problem.index(": ")] for problem in found] == [f"{one}:1", f"{one}:3", f"{other}:1"]


def test_a_journal_left_over_is_a_problem_and_so_is_its_torn_tail(tmp_path: Path):
    path = write_lines(tmp_path / "fake-one" / "journal-1-a.jsonl", line(id=entry_id(1)))
    path.write_bytes(path.read_bytes() + b"{")
    torn, left = check_recordings(tmp_path)
    assert torn.startswith(f"{path}:2: the last line is torn (1 bytes")
    assert left == f"{path}: left behind by a recording that was interrupted; record again to fold it in"


def test_the_journal_of_a_running_recording_is_no_problem(tmp_path: Path):
    journal = Journal(tmp_path / "fake-one")
    journal.append(line())
    assert check_recordings(tmp_path) == []
    journal.close()


def test_pruning_drops_what_is_not_used_and_says_how_many(tmp_path: Path):
    write_lines(tmp_path / "fake-one" / "calls.jsonl", line(id=entry_id(1)), line(id=entry_id(2)))
    write_lines(tmp_path / "fake-one" / "embeddings.jsonl", line(id=entry_id(3), kind="embed"))
    write_lines(tmp_path / "fake-two" / "calls.jsonl", line(id=entry_id(4), model="fake:two"))
    assert prune(tmp_path, {entry_id(1), entry_id(4)}) == 2
    assert (tmp_path / "fake-one" / "calls.jsonl").read_bytes() == line(id=entry_id(1)) + b"\n"
    assert files(tmp_path) == ["fake-one/calls.jsonl", "fake-two/calls.jsonl"]


def test_pruning_looks_into_abandoned_journals(tmp_path: Path):
    write_lines(tmp_path / "fake-one" / "journal-1-a.jsonl", line(id=entry_id(1)), line(id=entry_id(2)))
    assert prune(tmp_path, {entry_id(2)}) == 1
    assert (tmp_path / "fake-one" / "calls.jsonl").read_bytes() == line(id=entry_id(2)) + b"\n"


def test_pruning_nothing_creates_nothing(tmp_path: Path):
    (tmp_path / "notes").mkdir()
    assert prune(tmp_path, set()) == 0
    assert prune(tmp_path / "absent", set()) == 0
    assert list(tmp_path.rglob("*")) == [tmp_path / "notes"]


def test_pruning_under_a_running_recording_is_refused(tmp_path: Path):
    journal = Journal(tmp_path / "fake-one")
    with pytest.raises(EvalError, match="a running process records here; prune once it has finished"):
        prune(tmp_path, set())
    journal.close()
