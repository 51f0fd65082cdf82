"""Eight processes that store their cells at once, while a reader holds the catalogue open."""

from __future__ import annotations

import multiprocessing
import os
from dataclasses import replace
from multiprocessing.synchronize import Barrier
from pathlib import Path

import duckdb
import pytest

from eval_pipeline.scores import CheckResult, Score
from eval_pipeline.suites import Cell
from eval_pipeline.traces import AgentTrace, RetrievedDocument, ToolCall, TraceError
from eval_pipeline.warehouse.score_rows import scores_table
from eval_pipeline.warehouse.store import Warehouse
from eval_pipeline.warehouse.trace_rows import traces_from, traces_table
from eval_pipeline_tests.warehouse.test_catalogue import keys, rows
from eval_pipeline_tests.warehouse.test_warehouse import RUN

pytestmark = pytest.mark.slow
CELLS = [Cell("docs", f"model-{number}@{number:012d}", f"v{number % 2}@1") for number in range(8)]
CASES = 200
TURNS = 3
SPAWN = multiprocessing.get_context("spawn")
ODD = {
    "plain": "All is well.",
    "unicode": "Ünïcödé 日本語 \U0001f600 e\u0301 \u202e",
    "surrogate": "half of a pair: \ud83d.",
    "nul": "before\x00after",
    "blank": "",
}


def trace(number: int, case: int) -> AgentTrace:
    """One trace of a cell: of cell 0 with all that may be null null, of the others with odd text."""
    case_id = f"case-{case}"
    if number == 0:
        return AgentTrace(case_id)
    name, text = list(ODD.items())[case % len(ODD)]
    calls = (ToolCall("look", {}, text), ToolCall("say", {name: text, "deep": [{}, None, [text]]}, text))
    found = (RetrievedDocument(f"page-{name}", 1, float("nan"), text, 0),)
    error = TraceError("system", "raised", text) if case % 7 == 0 else None
    return AgentTrace(
        case_id, answer=text, tool_calls=calls, retrieved=found, context=(text,), structured={}, error=error
    )


def check(number: int, case: int) -> CheckResult:
    if number == 0:
        return CheckResult(f"case-{case}", 0, "tools", "not_measured", False, 1.0, "")
    text = list(ODD.values())[case % len(ODD)]
    return CheckResult(f"case-{case}", 0, "tools", "passed", True, 1.0, text, Score(1.0, text))


def materialize(root: str, number: int, together: Barrier) -> None:
    """What a run does to the warehouse, several times over and growing."""
    warehouse, cell = Warehouse(root), CELLS[number]
    together.wait()
    for turn in range(1, TURNS + 1):
        cases = range(CASES * turn // TURNS)
        warehouse.write("traces", traces_table([trace(number, case) for case in cases]), **keys(cell))
        warehouse.write("stage_scores", scores_table([check(number, case) for case in cases]), **keys(cell))
        warehouse.append_run(
            replace(RUN, run_id=f"run-{number}-{turn}", candidate=cell.candidate, dataset=cell.dataset)
        )
        warehouse.rebuild_catalogue(CELLS)


def read_on(root: str, stop: str, together: Barrier) -> None:
    """Query all the time: with a connection that stays open, with new ones, and through the warehouse."""
    warehouse = Warehouse(root)
    with duckdb.connect(str(warehouse.catalogue_path), read_only=True) as held:
        together.wait()
        seen = 0
        while not os.path.exists(stop):
            held.execute("SELECT count(*) FROM runs").fetchall()
            with duckdb.connect(str(warehouse.catalogue_path), read_only=True) as passing:
                ((runs,),) = passing.execute("SELECT count(*) FROM runs").fetchall()
            assert runs >= seen, "a run that was seen is gone"
            seen = runs
            warehouse.query("SELECT suite, count(*), max(answer) FROM current_traces GROUP BY suite")


def test_eight_cells_at_once_lose_no_row_and_lock_nobody_out(tmp_path: Path) -> None:
    root, stop = str(tmp_path / "w"), str(tmp_path / "stop")
    Warehouse(root).rebuild_catalogue(CELLS)
    together = SPAWN.Barrier(len(CELLS) + 1, timeout=120)
    reader = SPAWN.Process(target=read_on, args=(root, stop, together), daemon=True)
    writers = [
        SPAWN.Process(target=materialize, args=(root, number, together), daemon=True)
        for number in range(len(CELLS))
    ]
    for process in (reader, *writers):
        process.start()
    for process in writers:
        process.join(120)
    Path(stop).touch()
    reader.join(60)
    assert [process.exitcode for process in (reader, *writers)] == [0] * 9
    warehouse = Warehouse(root)
    for view in ("traces", "current_traces", "stage_scores", "current_stage_scores"):
        counted = rows(
            warehouse, f"SELECT candidate, dataset, count(*) FROM {view} GROUP BY ALL ORDER BY ALL"
        )
        assert counted == [(cell.candidate, cell.dataset, CASES) for cell in CELLS], view
    assert rows(warehouse, "SELECT count(*), count(DISTINCT run_id) FROM runs") == [(24, 24)]
    assert not list(tmp_path.rglob("*.tmp*"))
    everything = warehouse.query("FROM current_traces")
    assert everything.num_rows == len(CELLS) * CASES
    empty = f"candidate = '{CELLS[0].candidate}'"
    assert rows(warehouse, f"SELECT count(answer), count(error_kind) FROM traces WHERE {empty}") == [(0, 0)]
    unnested = "SELECT unnest(tool_calls) AS call FROM current_traces"
    assert rows(warehouse, f"SELECT count(*) FROM ({unnested}) WHERE call.arguments = '{{}}'") == [
        (7 * CASES,)
    ]
    by_text = "SELECT answer, count(*) AS n FROM current_traces WHERE answer IS NOT NULL GROUP BY answer"
    expected = {
        text.encode("utf-8", "backslashreplace").decode(): 7 * CASES // len(ODD) for text in ODD.values()
    }
    assert dict(rows(warehouse, by_text)) == expected
    for number, cell in enumerate(CELLS):
        stored = traces_from(warehouse.read("traces", **keys(cell)))
        assert [found.answer for found in stored] == [
            None
            if number == 0
            else (trace(number, case).answer or "").encode("utf-8", "backslashreplace").decode()
            for case in range(CASES)
        ]
