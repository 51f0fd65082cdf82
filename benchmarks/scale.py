"""What ten thousand cases cost: replayed first, run again unchanged, and with one of them edited.

Every step is the command as a user gives it, in a process of its own, Dagster included. The system does
next to nothing, so that what is measured is the pipeline; `replay` measures a real agent.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

PAGES = 100
UNCHANGED_S = 10.0
UNCHANGED_MIB = 1024.0
EDITED_S = 5.0
FIRST_MS = 20.0
"""Budgets at 10,000 cases: the unchanged run, its memory, one case edited, and CPU a case replayed first."""


def write_suite(folder: Path, cases: int, form: str) -> None:
    """A suite of `cases` questions about a hundred pages, in `form` yaml or jsonl."""
    suite = folder / "data" / "scale"
    for name in ("datasets", "documents", "prompts"):
        (suite / name).mkdir(parents=True)
    scorers = ("tools:ToolCalls", "retrieval:RetrievalById", "grounding:Grounding")
    stages = [
        {"name": scorer.partition(":")[0], "scorer": f"eval_pipeline.scorers.{scorer}"} for scorer in scorers
    ]
    declared = {
        "system": "benchmarks.look_up_system",
        "stages": stages,
        "candidates": {"one": {"model": "openai:scale", "prompt": "v1"}},
    }
    (suite / "suite.yaml").write_text(json.dumps(declared))
    (suite / "prompts" / "v1.md").write_text("Answer from the page.")
    for page in range(PAGES):
        text = f"Page {page} says that thing {page} costs {page} euros and comes in {page + 2} colours. " * 5
        (suite / "documents" / f"page{page}.md").write_text(text)
    write_cases(suite, cases, form)


def write_cases(suite: Path, cases: int, form: str, edited: int | None = None) -> None:
    """The dataset file, the question of one case edited."""
    rows = [
        {
            "id": f"case-{n}",
            "input": f"What does page{n % PAGES} say, number {n}{' please' if n == edited else ''}?",
            "reference": f"Thing {n % PAGES} costs {n % PAGES} euros.",
            "expected": {"tools": ["look_up"], "pages": [f"page{n % PAGES}"]},
        }
        for n in range(cases)
    ]
    if form == "jsonl":
        lines = [{"version": 1}, *rows]
        (suite / "datasets" / "all.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    else:
        lines = "".join(f"  - {json.dumps(row)}\n" for row in rows)
        (suite / "datasets" / "all.yaml").write_text(f"version: 1\ncases:\n{lines}")


def run(folder: Path, *arguments: str) -> dict[str, float]:
    """Seconds, CPU seconds and MiB of one command."""
    environment = {
        **os.environ,
        "EVAL_DATA": str(folder / "data"),
        "EVAL_WAREHOUSE": str(folder / "warehouse"),
        "DAGSTER_HOME": "",
        "OPENAI_API_KEY": "none",
    }
    command = [sys.executable, "-m", "eval_pipeline", "run", "scale", *arguments]
    started = time.perf_counter()
    with (folder / "out.txt").open("wb") as out:
        process = subprocess.Popen(command, env=environment, stdout=out, stderr=subprocess.STDOUT)
        _, status, used = os.wait4(process.pid, 0)
    if os.waitstatus_to_exitcode(status) != 0:
        sys.exit((folder / "out.txt").read_text()[-3000:])
    return {
        "wall s": time.perf_counter() - started,
        "CPU s": used.ru_utime + used.ru_stime,
        "RSS MiB": used.ru_maxrss / 1024,
    }


def measure(cases: int, form: str) -> list[dict[str, Any]]:
    """Each step with its figures, after one that records."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        write_suite(folder, cases, form)
        suite = folder / "data" / "scale"
        steps = {"recorded": run(folder, "--record-mode", "new_episodes")}
        (folder / "warehouse").rename(folder / "first")
        steps["first replay"] = run(folder)
        steps["unchanged"] = run(folder)
        write_cases(suite, cases, form, edited=cases // 2)
        steps["one case edited"] = run(folder, "--record-mode", "new_episodes")
        return [{"cases": cases, "form": form, "step": step, **figures} for step, figures in steps.items()]


def show(results: list[dict[str, Any]]) -> None:
    """Print the figures as a table."""
    table = Table(title="scale: the whole command, start-up and report included")
    for name in results[0]:
        table.add_column(name, justify="right")
    for result in results:
        table.add_row(*(f"{v:.4g}" if isinstance(v, float) else str(v) for v in result.values()))
    Console().print(table)


def main() -> None:
    """Print the figures as a table and as JSON; exit 1 when one is over its budget."""
    cases = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    start_up = measure(1, "yaml")[2]
    results = [{**start_up, "step": "start-up"}]
    for form in sys.argv[2:] or ("jsonl", "yaml"):
        results += measure(cases, form)
    show(results)
    print(json.dumps(results))
    by_step = {result["step"]: result for result in results}
    unchanged, edited, first = (by_step[name] for name in ("unchanged", "one case edited", "first replay"))
    sys.exit(
        unchanged["CPU s"] > UNCHANGED_S
        or unchanged["RSS MiB"] > UNCHANGED_MIB
        or edited["CPU s"] > EDITED_S
        or first["CPU s"] / cases * 1000 > FIRST_MS
    )


if __name__ == "__main__":
    main()
