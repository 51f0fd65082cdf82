"""A dataset of many cases is read in parts and kept in a file: with the cases and problems of a small one."""

from __future__ import annotations

import gc
import json
from pathlib import Path

import pytest

from eval_pipeline.case_reading import read_cases
from eval_pipeline.cases import Case, DatasetFields
from eval_pipeline.datasets import Dataset
from eval_pipeline.errors import CaseError
from eval_pipeline.kept_cases import JoinedCases, KeptCases

CASES = [
    {"id": f"case-{n}", "input": {"n": n, "text": "Ä\ud83d"[:1]}, "reference": None if n % 2 else "so"}
    for n in range(7)
]


def write(folder: Path, lines: list[object]) -> Path:
    path = folder / "many.jsonl"
    path.write_text("".join(f"{json.dumps(line)}\n" for line in [{"version": 1, "repeats": 2}, *lines]))
    return path


def read_both(path: Path, monkeypatch: pytest.MonkeyPatch):
    """The file as one of few cases, and as one of more than a window."""
    whole = read_cases(path, DatasetFields)
    monkeypatch.setattr("eval_pipeline.windows.SIZE", 3)
    return whole, read_cases(path, DatasetFields)


def test_they_are_the_cases_of_the_file(tmp_path, monkeypatch):
    whole, parts = read_both(write(tmp_path, CASES), monkeypatch)
    assert isinstance(whole.cases, tuple)
    assert isinstance(parts.cases, KeptCases)
    assert tuple(parts.cases) == whole.cases
    assert [case.left_out for case in parts.cases] == [case.left_out for case in whole.cases]
    assert (parts.version, parts.repeats) == (1, 2)
    assert parts.file.where(("cases", 5, "id")) == whole.file.where(("cases", 5, "id"))


def test_their_dataset_has_the_same_key_and_runs(tmp_path, monkeypatch):
    whole, parts = (
        Dataset("many", 1, read.cases, (), {}, 2) for read in read_both(write(tmp_path, CASES), monkeypatch)
    )
    assert parts.sha == whole.sha
    assert list(parts.runs) == list(whole.runs)
    assert parts.runs[3:6] == whole.runs[3:6]
    assert parts.runs[-1] == whole.runs[-1]
    assert list(parts.run_keys) == [run.key for run in whole.runs]
    assert parts.case("case-4") == whole.case("case-4")


@pytest.mark.parametrize(
    "lines",
    [
        [*CASES, CASES[0]],
        [*CASES, {"id": "more"}],
        [*CASES, {"id": " x", "input": ""}],
        [*CASES, {**CASES[0], "id": "y", "inptu": 1}],
        [*CASES, 3],
    ],
    ids=["an id twice", "no input", "an id with a space", "an unknown key", "no object"],
)
def test_what_is_wrong_with_them_is_told_in_the_same_words(tmp_path, monkeypatch, lines):
    path = write(tmp_path, lines)
    with pytest.raises(CaseError) as told:
        read_cases(path, DatasetFields)
    monkeypatch.setattr("eval_pipeline.windows.SIZE", 3)
    with pytest.raises(CaseError) as again:
        read_cases(path, DatasetFields)
    assert str(again.value) == str(told.value)


def test_they_stay_as_they_were_read_when_the_file_changes(tmp_path, monkeypatch):
    path = write(tmp_path, CASES)
    _, parts = read_both(path, monkeypatch)
    path.write_text("")
    assert parts.cases[6].id == "case-6"


def test_their_file_goes_with_them():
    kept = KeptCases()
    kept.extend([Case("a", "b")])
    number = kept._file
    assert Path(f"/dev/fd/{number}").exists()
    del kept
    gc.collect()
    assert not Path(f"/dev/fd/{number}").exists()


def test_joined_cases_come_one_dataset_after_the_other():
    kept = KeptCases()
    kept.extend([Case("b", 1), Case("c", 2)])
    joined = JoinedCases([(Case("a", 0),), kept])
    assert [case.id for case in joined] == ["a", "b", "c"]
    assert [joined[i].id for i in (0, 2, -1)] == ["a", "c", "c"]
    assert [case.id for case in joined[1:]] == ["b", "c"]
    with pytest.raises(IndexError):
        joined[3]
