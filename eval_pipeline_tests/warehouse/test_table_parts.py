"""A table is written and read a part at a time, and a file that says the same already is left alone."""

from __future__ import annotations

import pyarrow as pa
import pytest

from eval_pipeline.warehouse.arrow_schemas import DOCUMENTS
from eval_pipeline.warehouse.store import Warehouse

KEYS = {"suite": "toy", "dataset": "d@1"}


@pytest.fixture
def warehouse(tmp_path, monkeypatch):
    monkeypatch.setattr("eval_pipeline.windows.SIZE", 3)
    return Warehouse(str(tmp_path))


def documents(*ids: str) -> pa.Table:
    rows = [{"document_id": name, "text": f"text of {name}", "sha": name} for name in ids]
    return pa.Table.from_pylist(rows, schema=DOCUMENTS)


def store(warehouse: Warehouse, *parts: str):
    """Write tables of one document a letter, and give the file."""
    with warehouse.writing("documents", **KEYS) as writer:
        for part in parts:
            writer.write(documents(*part))
    (file,) = warehouse._folder.glob("documents/*/*/part.parquet")
    return file


def break_off(warehouse: Warehouse) -> None:
    with warehouse.writing("documents", **KEYS) as writer:
        writer.write(documents("x"))
        writer.write(documents("y").select(["text"]))


def ids(table: pa.Table) -> str:
    return "".join(table["document_id"].to_pylist())


def test_parts_are_one_table(warehouse):
    store(warehouse, "abc", "d")
    assert warehouse.read("documents", **KEYS).equals(documents(*"abcd"))


@pytest.mark.parametrize(
    ("rows", "found"),
    [([], ""), ([0], "a"), ([1, 2, 3, 4], "bcde"), ([6, 0, 3], "gad"), ([2, 1], "cb"), ([5, 5], "ff")],
)
def test_rows_are_taken_in_the_order_asked_for_from_any_row_group(warehouse, rows, found):
    store(warehouse, "abc", "def", "g")
    assert ids(warehouse.open("documents", **KEYS).take(rows)) == found


@pytest.mark.parametrize(
    ("start", "length", "found"), [(0, 7, "abcdefg"), (2, 3, "cde"), (6, 9, "g"), (7, 1, "")]
)
def test_a_slice_goes_across_row_groups_and_ends_with_the_table(warehouse, start, length, found):
    store(warehouse, "abc", "def", "g")
    assert ids(warehouse.open("documents", **KEYS).slice(start, length)) == found


def test_the_same_rows_leave_the_file_alone_however_they_are_cut(warehouse):
    before = store(warehouse, "abc", "d").stat()
    after = store(warehouse, "ab", "cd").stat()
    assert after.st_ino == before.st_ino
    assert after.st_mtime_ns > before.st_mtime_ns  # and yet it counts as stored just now


@pytest.mark.parametrize("parts", [("abc", "x"), ("abc", "d", "e"), ("abc",), ("x", "bcd")])
def test_other_rows_replace_it_with_those_before_kept(warehouse, parts):
    before = store(warehouse, "abc", "d").stat()
    assert store(warehouse, *parts).stat().st_ino != before.st_ino
    assert warehouse.read("documents", **KEYS).equals(documents(*"".join(parts)))


def test_what_raises_on_the_way_leaves_what_was_stored(warehouse):
    file = store(warehouse, "abc", "d")
    with pytest.raises(ValueError, match="the columns are"):  # of the second part
        break_off(warehouse)
    assert warehouse.read("documents", **KEYS).equals(documents(*"abcd"))
    assert list(file.parent.iterdir()) == [file]


def test_an_open_table_stays_as_it_was_when_another_takes_its_place(warehouse):
    store(warehouse, "abc")
    opened = warehouse.open("documents", **KEYS)
    store(warehouse, "x")
    assert ids(opened.take([0, 2])) == "ac"
