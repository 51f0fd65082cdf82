import json
import random
from pathlib import Path

import pytest

from eval_pipeline.errors import EvalError, RecordingFileError
from eval_pipeline.recordings import TornJournalWarning, line_index
from eval_pipeline.recordings.folding import fold
from eval_pipeline.recordings.journal import Journal
from eval_pipeline_tests.recordings.questions import entry_id, files, line, write_lines

FAILED = {"error": {"kind": "blocked", "message": "unsafe"}}


@pytest.fixture(params=[1, 10**9], ids=["large", "small"])
def folder(tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A model's folder, whose files count as large, so that no lines of them are held, or as small."""
    monkeypatch.setattr(line_index, "LARGE", request.param)
    (tmp_path / "fake-one").mkdir()
    return tmp_path / "fake-one"


def calls(folder: Path) -> list[bytes]:
    return (folder / "calls.jsonl").read_bytes().splitlines()


def test_abandoned_journals_move_into_the_sorted_files(folder: Path):
    write_lines(folder / "calls.jsonl", line(id=entry_id(2)))
    write_lines(folder / "journal-1-a.jsonl", line(id=entry_id(3)), line(id=entry_id(4), kind="embed"))
    write_lines(folder / "journal-2-b.jsonl", line(id=entry_id(1)))
    fold(folder)
    assert calls(folder) == [line(id=entry_id(1)), line(id=entry_id(2)), line(id=entry_id(3))]
    assert (folder / "embeddings.jsonl").read_bytes() == line(id=entry_id(4), kind="embed") + b"\n"
    assert files(folder) == ["calls.jsonl", "embeddings.jsonl"]


def test_entries_are_sorted_by_case_then_role_then_label_then_id(folder: Path):
    ordered = [
        line(id=entry_id(6), cases=["a"], role="agent"),
        line(id=entry_id(5), cases=["a"], role="judge", label="faithfulness"),
        line(id=entry_id(3), cases=["a"], role="judge", label="relevancy"),
        line(id=entry_id(4), cases=["a"], role="judge", label="relevancy"),
        line(id=entry_id(1), cases=["b"]),
    ]
    write_lines(folder / "journal-1-a.jsonl", *reversed(ordered))
    fold(folder)
    assert calls(folder) == ordered


def test_folding_again_does_not_touch_the_files(folder: Path):
    write_lines(folder / "journal-1-a.jsonl", line(id=entry_id(1)))
    fold(folder)
    before = (folder / "calls.jsonl").stat()
    write_lines(folder / "journal-2-b.jsonl", line(id=entry_id(1)))
    fold(folder)
    after = (folder / "calls.jsonl").stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    assert files(folder) == ["calls.jsonl"]


def test_a_journal_that_is_being_written_is_left_alone(folder: Path):
    journal = Journal(folder)
    journal.append(line(id=entry_id(1)))
    fold(folder)
    assert files(folder) == [journal.path.name]
    fold(folder, own=journal.path)
    journal.close()
    assert files(folder) == ["calls.jsonl"]


def test_the_first_response_folded_stays_and_lists_the_cases_of_both(folder: Path):
    write_lines(folder / "calls.jsonl", line(response={"text": "first"}, cases=["b"]))
    write_lines(folder / "journal-1-a.jsonl", line(response={"text": "second"}, cases=["a"]))
    fold(folder)
    assert calls(folder) == [line(response={"text": "first"}, cases=["a", "b"])]


def test_an_abandoned_answer_takes_the_place_of_a_failure(folder: Path):
    write_lines(folder / "calls.jsonl", line(response=FAILED, cases=["b"]))
    write_lines(folder / "journal-1-a.jsonl", line(response={"text": "yes"}, cases=["a"]))
    fold(folder)
    assert calls(folder) == [line(response={"text": "yes"}, cases=["a", "b"])]


def test_an_abandoned_failure_never_takes_a_place(folder: Path):
    write_lines(folder / "calls.jsonl", line(response={"text": "yes"}))
    write_lines(folder / "journal-1-a.jsonl", line(response=FAILED))
    fold(folder)
    assert calls(folder) == [line(response={"text": "yes"})]


@pytest.mark.parametrize(("replacing", "stays"), [([entry_id(1)], "new"), ([], "old")])
def test_our_own_failure_replaces_another_only_when_it_was_asked_again(
    folder: Path, replacing: list[str], stays: str
):
    failed = {
        age: line(id=entry_id(1), response={"error": {"kind": "blocked", "message": age}})
        for age in ("old", "new")
    }
    write_lines(folder / "calls.jsonl", failed["old"])
    own = write_lines(folder / "journal-1-a.jsonl", failed["new"])
    fold(folder, own=own, replacing=replacing)
    assert calls(folder) == [failed[stays]]


def test_further_cases_are_added_in_order_and_change_nothing_else(folder: Path):
    write_lines(folder / "calls.jsonl", line(id=entry_id(1), cases=["b"]), line(id=entry_id(2), cases=["c"]))
    fold(folder, cases={entry_id(1): ["c", "a", "b"], entry_id(9): ["a"]})
    assert calls(folder) == [line(id=entry_id(1), cases=["a", "b", "c"]), line(id=entry_id(2), cases=["c"])]


def test_lines_written_otherwise_are_kept_byte_for_byte(folder: Path):
    spaced = line(id=entry_id(1)).replace(b", ", b" ,  ")
    write_lines(folder / "calls.jsonl", spaced)
    write_lines(folder / "journal-1-a.jsonl", line(id=entry_id(2)))
    fold(folder)
    assert calls(folder) == [spaced, line(id=entry_id(2))]


def test_a_torn_tail_is_dropped_with_a_warning_and_the_rest_folded(folder: Path):
    path = write_lines(folder / "journal-1-a.jsonl", line(id=entry_id(1)))
    path.write_bytes(path.read_bytes() + line(id=entry_id(2))[:40])
    with pytest.warns(TornJournalWarning):
        fold(folder)
    assert calls(folder) == [line(id=entry_id(1))]
    assert files(folder) == ["calls.jsonl"]


def test_a_broken_file_stops_the_fold_before_anything_changes(folder: Path):
    write_lines(folder / "calls.jsonl", b"{")
    write_lines(folder / "journal-1-a.jsonl", line())
    with pytest.raises(RecordingFileError, match=r"calls\.jsonl:1: not JSON"):
        fold(folder)
    assert calls(folder) == [b"{"]
    assert files(folder) == ["calls.jsonl", "journal-1-a.jsonl"]


def test_what_a_killed_fold_left_is_cleared_away(folder: Path):
    (folder / "calls.jsonl.77.tmp").write_bytes(b"{")
    write_lines(folder / "journal-1-a.jsonl", line())
    fold(folder)
    assert files(folder) == ["calls.jsonl"]


def test_a_fold_killed_between_replacing_and_unlinking_is_made_good(folder: Path):
    write_lines(folder / "calls.jsonl", line(id=entry_id(1)), line(id=entry_id(2)))
    write_lines(folder / "journal-1-a.jsonl", line(id=entry_id(2)), line(id=entry_id(1)))
    fold(folder)
    assert calls(folder) == [line(id=entry_id(1)), line(id=entry_id(2))]
    assert files(folder) == ["calls.jsonl"]


def test_nothing_to_fold_makes_no_file(folder: Path):
    write_lines(folder / "journal-1-a.jsonl")
    fold(folder)
    assert files(folder) == []


def test_a_folder_that_can_not_be_locked_is_named(folder: Path):
    (folder / ".lock").mkdir()
    with pytest.raises(EvalError, match=r"fake-one: no recording can be written here \(Is a directory\)"):
        fold(folder)


def random_line(chance: random.Random) -> bytes:
    number = chance.randrange(40)
    return line(
        id=entry_id(number),
        cases=sorted(chance.sample(["a", "b", "ä", 'say "id": "x"', "c]"], chance.randint(1, 3))),
        role=chance.choice(["agent", "judge"]),
        label=chance.choice(["", 'the "best"']),
        kind="chat" if number % 3 else "embed",  # a request's id has one kind
        response=chance.choice([{"text": "yes"}, {"text": "no"}, FAILED]),
    )


def of_each_id(lines: list[bytes]) -> list[bytes]:
    return list({json.loads(one)["id"]: one for one in lines}.values())


@pytest.mark.parametrize("seed", range(20))
def test_large_files_are_folded_as_small_ones_are(tmp_path, monkeypatch, seed):
    chance = random.Random(seed)
    journaled = [of_each_id([random_line(chance) for _ in range(chance.randint(0, 12))]) for _ in range(6)]
    more = {entry_id(chance.randrange(40)): ["0", "b"] for _ in range(5)}
    replaced = [entry_id(number) for number in range(40)]
    contents = []
    for large in (1, 10**9):
        monkeypatch.setattr(line_index, "LARGE", large)
        folder = tmp_path / str(large) / "fake-one"
        folder.mkdir(parents=True)
        for number, lines in enumerate(journaled):
            write_lines(path := folder / f"journal-{number}-a.jsonl", *lines)
            own = {"own": path, "replacing": replaced, "cases": more} if number % 2 else {}
            fold(folder, **own)
        contents.append({name: (folder / name).read_bytes() for name in files(folder)})
    assert contents[0] == contents[1]
    assert contents[0].keys() == {"calls.jsonl", "embeddings.jsonl"}


def test_of_large_files_the_lines_asked_for_come_back(tmp_path, monkeypatch):
    monkeypatch.setattr(line_index, "LARGE", 1)
    (folder := tmp_path / "fake-one").mkdir()
    write_lines(folder / "calls.jsonl", *(line(id=entry_id(number)) for number in (1, 2, 3)))
    write_lines(folder / "journal-1-a.jsonl", line(id=entry_id(4)))
    assert fold(folder, asked=[entry_id(2)]).lines.keys() == {entry_id(2), entry_id(4)}
