"""A cell is worked on a window of cases at a time: what that saves, counted in rows and files."""

from __future__ import annotations

import json

import pytest

from eval_pipeline.evaluation import Evaluation
from eval_pipeline.gating.own_outcomes import outcomes_text
from eval_pipeline.report.json_form import report_json
from eval_pipeline.report.stored_rows import StoredRows
from eval_pipeline.warehouse.table_writer import TableWriter
from eval_pipeline_tests.carry_over.shop import Grader, Shop

SIZE = 3


@pytest.fixture
def shop(tmp_path, monkeypatch):
    monkeypatch.setattr("eval_pipeline.windows.SIZE", SIZE)
    shop = Shop(tmp_path)
    shop.write()
    return shop


def store(shop: Shop):
    """Store a cell's traces, scores and report; gives the evaluation, the cell and the report."""
    evaluation = Evaluation(
        run_id="r",
        data_root=shop.root / "data",
        warehouse_root=str(shop.root / "warehouse"),
        mode="new_episodes",
        connector=Grader(),
    )
    cell = next(cell for cell in evaluation.suite("shop").cells if cell.candidate.startswith("plain"))
    evaluation.store_cases(cell.suite, cell.dataset)
    evaluation.store_traces(cell)
    evaluation.store_scores(cell)
    report, _ = evaluation.store_report(cell)
    return evaluation, cell, report


def files(shop: Shop) -> dict[str, int]:
    """Every stored file but that of each run, with its number, which a file written anew has another of."""
    found = [path for path in (shop.root / "warehouse").rglob("*.*") if path.is_file()]
    return {str(path): path.stat().st_ino for path in found if path.parent.name != "runs"}


def test_a_third_run_of_the_same_writes_no_file(shop):
    shop.cases = [case for case in shop.cases if case["id"] != "broken"]  # an exception is never carried over
    shop.write()
    store(shop)  # rows made with live calls
    store(shop)  # the same rows, carried over
    before = files(shop)
    store(shop)
    assert files(shop) == before


def test_what_is_stored_in_passing_is_what_the_report_says(shop):
    evaluation, cell, report = store(shop)
    keys = {"suite": cell.suite, "dataset": cell.dataset, "candidate": cell.candidate}
    stored = evaluation.warehouse.read_text("stage_report", "report.json", **keys)
    assert stored == report_json(report)
    assert stored == json.dumps(json.loads(stored), indent=2, ensure_ascii=False) + "\n"
    outcomes = evaluation.warehouse.read_text("stage_report", "outcomes.json", **keys)
    assert outcomes == outcomes_text(evaluation.build_outcomes(cell))


def test_no_more_than_a_window_is_written_or_read_at_once(shop, monkeypatch):
    written, read = [], []
    write, read_rows = TableWriter.write, StoredRows._read

    def note_written(self, table):
        written.append(len(set(table["case_id"].to_pylist())))
        write(self, table)

    def note_read(self, start):
        read.append(len(rows := read_rows(self, start)))
        return rows

    monkeypatch.setattr(TableWriter, "write", note_written)
    monkeypatch.setattr(StoredRows, "_read", note_read)
    store(shop)
    # Seven cases make three windows of each of four tables; the report's rows are gone through once.
    assert written == [3, 3, 1] * 4
    assert read == [3, 3, 1]


def test_rows_of_a_stored_report_are_found_by_place(shop):
    _, _, report = store(shop)
    ids = [row.trace.case_id for row in report.rows]
    assert [report.rows[place].trace.case_id for place in (6, 0, -1)] == [ids[6], ids[0], ids[6]]
    assert [row.trace.case_id for row in report.rows[2:5]] == ids[2:5]
    with pytest.raises(IndexError):
        report.rows[7]


def test_cases_in_another_order_are_reported_in_theirs(shop):
    evaluation, cell, _ = store(shop)
    shop.cases.reverse()  # the order is no part of the key, so that the stored tables are those of before
    shop.write()
    rows = evaluation.build_report(cell).rows
    assert [row.trace.case_id for row in rows] == [case["id"] for case in shop.cases]
    assert [row.checks.keys() for row in rows if row.trace.case_id == "apple"] == [{"says", "kind"}]
