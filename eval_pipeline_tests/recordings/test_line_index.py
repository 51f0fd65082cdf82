"""Large files are looked into, not read: what comes out is what reading them gives."""

from __future__ import annotations

import json

import pytest

from eval_pipeline.errors import RecordingFileError
from eval_pipeline.recordings import Recordings, line_index, read_digests, scope
from eval_pipeline.recordings.digests import digest_of
from eval_pipeline.recordings.line_index import index_lines
from eval_pipeline.recordings.lines import FolderReader
from eval_pipeline.recordings.quick_lines import NotAsWritten, model_and_role, read_quickly
from eval_pipeline.recordings.request import Request
from eval_pipeline.recordings.shelf import Shelf, read_lines

MODEL = "fake:one"
TRICKY = '"id": "x", "role": "judge", "model": "other"'
"""What looks like fields of an entry inside its texts."""


def request(number: int) -> Request:
    return Request("chat", MODEL, {"question": f"{number:064x}"}, words=TRICKY)


def record(folder, numbers, *, text: str = TRICKY) -> None:
    recordings = Recordings(folder, "new_episodes")
    for number in numbers:
        with scope(f"case {TRICKY} {number}"):
            recordings.keep(request(number), {"role": "user", "id": "y", "text": text}, latency_ms=1)
    recordings.close()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(line_index, "LARGE", 1)
    record(tmp_path, range(5))
    return tmp_path / "fake-one"


def test_the_index_gives_the_lines_that_reading_gives(folder):
    index = index_lines(folder)
    assert index is not None
    assert dict(index) == read_lines(FolderReader(folder))
    assert (index.models, index.roles) == ({MODEL}, {"agent"})
    assert len(index) == 5


def test_small_files_are_read_whole(folder, monkeypatch):
    monkeypatch.setattr(line_index, "LARGE", 10**6)
    assert index_lines(folder) is None


def test_a_shelf_over_an_index_answers_and_records_on(folder):
    record(folder.parent, [5, 6])
    shelf = Shelf(folder)
    assert len(shelf.lines) == 7
    entry = shelf.get(f"{request(6).key}:0.0:0")
    assert entry is not None
    assert (entry.cases, entry.response["text"]) == ((f"case {TRICKY} 6",), TRICKY)
    assert shelf.get(f"{request(7).key}:0.0:0") is None


@pytest.mark.parametrize("large", [1, 10**9], ids=["looked into", "read"])
def test_new_calls_are_folded_into_large_files_as_into_small_ones(tmp_path, monkeypatch, large):
    monkeypatch.setattr(line_index, "LARGE", large)
    record(tmp_path, [4, 0, 3])
    file = tmp_path / "fake-one" / "calls.jsonl"
    file.write_text("".join(reversed(file.read_text().splitlines(keepends=True))))  # as a merge may leave it
    record(tmp_path, [2, 1])
    cases = [json.loads(line)["cases"][0] for line in file.read_text().splitlines()]
    assert cases == [f"case {TRICKY} {number}" for number in range(5)]


def test_a_fold_keeps_a_large_file_s_lines_as_they_are(folder):
    file = folder / "calls.jsonl"
    file.write_text(file.read_text().replace('"latency_ms": 1', '"latency_ms": one', 1))
    before = file.read_text().splitlines()
    record(folder.parent, [5])
    assert file.read_text().splitlines()[:5] == before


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"kind": "chat"', '"kind": "embed"', "belongs in embeddings"),
        ('"model": "fake:one"', '"model": "fake:two"', "in a folder that holds"),
        ('"label": ""', '"label": 7', "'label' must be"),
    ],
)
def test_a_fold_refuses_what_does_not_belong_in_a_large_file(folder, old, new, said):
    recordings = Recordings(folder.parent, "new_episodes")
    with scope("late"):
        recordings.keep(request(9), {"text": "late"}, latency_ms=1)
    file = folder / "calls.jsonl"
    file.write_text(file.read_text().replace(old, new, 1))
    with pytest.raises(RecordingFileError, match=said):
        recordings.close()


def test_a_broken_line_is_told_when_it_is_asked_for(folder):
    file = folder / "calls.jsonl"
    file.write_text(file.read_text().replace('"latency_ms": 1', '"latency_ms": one', 1))
    shelf = Shelf(folder)
    broken = [entry_id for entry_id, line in shelf.lines.items() if b"one," in line]
    with pytest.raises(RecordingFileError, match=r"calls\.jsonl:1: not JSON"):
        shelf.get(broken[0])


@pytest.mark.parametrize("line", ["", "{}", '{"at": "2026-01-31T12:00:00Z", "cases": ["a"], "id": "torn'])
def test_a_line_that_is_not_ours_is_left_to_the_strict_reader(folder, line):
    file = folder / "calls.jsonl"
    file.write_text(file.read_text() + line + ("" if "torn" in line else "\n"))
    assert index_lines(folder) is None
    with pytest.raises(RecordingFileError, match=r"calls\.jsonl:6"):
        Shelf(folder)


def test_two_lines_of_one_id_are_left_to_the_strict_reader(folder):
    file = folder / "calls.jsonl"
    first = file.read_text().splitlines(keepends=True)[0]
    file.write_text(file.read_text() + first)
    with pytest.raises(RecordingFileError, match="duplicate id"):
        Shelf(folder)
    with pytest.raises(RecordingFileError, match="duplicate id"):
        read_digests(folder.parent)


def test_digests_cover_the_response_and_its_time_but_not_who_asked(folder):
    before = read_digests(folder.parent)
    lines = read_lines(FolderReader(folder))
    assert before == {entry_id: digest_of(line) for entry_id, line in lines.items()}
    file = folder / "calls.jsonl"
    text = file.read_text()
    file.write_text(text.replace('"cases": ["case', '"cases": ["a", "case', 1))
    assert read_digests(folder.parent) == before
    file.write_text(text.replace('"latency_ms": 1', '"latency_ms": 2', 1))
    assert len(before.items() - read_digests(folder.parent).items()) == 1


def test_a_line_written_by_hand_has_the_digest_of_its_entry(folder):
    lines = read_lines(FolderReader(folder))
    before = read_digests(folder.parent)
    file = folder / "calls.jsonl"
    file.write_text(file.read_text().replace('{"at": ', '{ "at": ', 1))
    assert read_digests(folder.parent) == before
    assert len(lines) == 5


def test_a_role_among_the_versions_is_not_taken_for_the_asker_s(folder):
    file = folder / "calls.jsonl"
    file.write_text(file.read_text().replace('"versions": {', '"versions": {"role": "x", ', 1))
    first, *others = read_quickly(file)
    with pytest.raises(NotAsWritten):
        model_and_role(first)
    assert {model_and_role(line) for line in others} == {(MODEL, "agent")}
