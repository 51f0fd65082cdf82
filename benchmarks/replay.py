"""What a replayed case costs: all of it really runs, only the model calls are answered."""

from __future__ import annotations

import json
import resource
import sys
import tempfile
import time
from pathlib import Path

from rich.console import Console
from rich.table import Table

from eval_pipeline.agent_runs import run_cell
from eval_pipeline.cell_scoring import score_cell
from eval_pipeline.recordings import Recordings
from eval_pipeline.report.stage_report import build_report
from eval_pipeline.suite_reading import find_suite, read_suite
from eval_pipeline_tests.scripted_judge import JudgedConnector

SHIPPED = Path(__file__).parent.parent / "data" / "docs_assistant"
BUDGET_MS = 20.0
"""CPU milliseconds a case, system and all stages together."""


def write_suite(folder: Path, cases: int) -> None:
    """The docs assistant's pages and stages, with `cases` questions, a scripted candidate and judge."""
    shipped = read_suite(SHIPPED)
    stages = [
        {"name": s.name, "scorer": f"{type(s.scorer).__module__}:{type(s.scorer).__name__}"}
        for s in shipped.stages
    ]
    candidate = {"model": "openai:scripted", "embedder": "openai:scripted-embedder", "prompt": "v1"}
    suite = {
        "system": shipped.system.module,
        "stages": stages,
        "judge": "openai:judge",
        "candidates": {"scripted": candidate},
    }
    (originals,) = [dataset.cases for dataset in shipped.datasets.values()]
    copies = [
        {
            "id": f"{case.id}-{n}",
            "input": f"{case.input} ({n})",
            "reference": f"{case.reference} ({n})",
            "expected": dict(case.expected),
        }
        for n in range(-(-cases // len(originals)))
        for case in originals
    ]
    for name in ("documents", "fixtures", "prompts"):
        (folder / name).symlink_to(SHIPPED / name)
    (folder / "datasets").mkdir()
    (folder / "datasets" / "bench.yaml").write_text(json.dumps({"version": 1, "cases": copies[:cases]}))
    (folder / "suite.yaml").write_text(json.dumps(suite))


def measure(cases: int) -> dict[str, float]:
    """Record `cases` with a scripted model, then replay and score them; CPU and wall times of the replay."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "data" / "bench"
        folder.mkdir(parents=True)
        write_suite(folder, cases)
        suite = find_suite(folder.parent, "bench")
        (cell,) = suite.cells
        open_live = lambda: Recordings(suite.recordings, "new_episodes")  # noqa: E731
        open_recorded = lambda: Recordings(suite.recordings)  # noqa: E731
        traces = run_cell(suite, cell, open_live, connector=JudgedConnector())
        score_cell(suite, cell, traces, open_live, connector=JudgedConnector())
        wall, cpu = time.perf_counter(), time.process_time()
        traces = run_cell(suite, cell, open_recorded)
        traced = time.process_time()
        checks = score_cell(suite, cell, traces, open_recorded)
        scored = time.process_time()
        build_report(suite, cell, traces, checks)
        done = time.process_time()
        return {
            "cases": cases,
            "CPU ms a case": (done - cpu) / cases * 1000,
            "of it traces": (traced - cpu) / cases * 1000,
            "of it scores": (scored - traced) / cases * 1000,
            "wall s": time.perf_counter() - wall,
            "RSS MiB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        }


def main() -> None:
    """Print the figures as a table and as JSON; exit 1 when a case costs more than the budget."""
    measure(10)  # imports and first-time set-up belong to no case
    results = [measure(10), measure(1000)]
    table = Table(title=f"replay; budget {BUDGET_MS:g} ms CPU a case")
    for name in results[0]:
        table.add_column(name, justify="right")
    for result in results:
        table.add_row(*(f"{value:.4g}" for value in result.values()))
    Console().print(table)
    print(json.dumps(results))
    sys.exit(any(result["CPU ms a case"] > BUDGET_MS for result in results))


if __name__ == "__main__":
    main()
