"""What many cases cost: replayed first, run again unchanged, and with one of them edited.

Every step is the command as a user gives it, in a process of its own, Dagster included. The system does
next to nothing, so that what is measured is the pipeline; `replay` measures a real agent. Processor time is
what budgets are held against: it is the wall time of a machine that has nothing else to do. Steps of seconds
are taken three times, and the quickest counts: what else a machine does only ever adds to it.
"""

from __future__ import annotations

import argparse
import json
import os
import pstats
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from eval_pipeline.evaluation import Evaluation

PAGES = 100
TIMES = 3
CASES = 10_000
MANY = 100_000
UNCHANGED_S = 10.0
UNCHANGED_MIB = 1024.0
EDITED_S = 5.0
FIRST_MS = 20.0
"""Budgets: the whole of an unchanged run and its memory; one case edited, and CPU a case replayed first, both
beyond start-up."""
KIB_A_CASE = 1.0
"""Budget of memory for each case from `CASES` to `MANY`: ids, hashes and places; all else is a window's."""

PHASES = (
    ("start-up: imports", "<frozen importlib._bootstrap>", "_find_and_load"),
    ("start-up: Dagster's instance", "instance.py", "ephemeral"),
    ("reading the suite", "suite_reading.py", "read_suite"),
    ("storing cases", "evaluation.py", "store_cases"),
    ("traces", "trace_results.py", "store_traces"),
    ("checks", "check_results.py", "store_scores"),
    ("report", "report_results.py", "store_report"),
    ("catalogue", "evaluation.py", "rebuild_catalogue"),
    ("printing", "text.py", "print_report"),
)
"""Parts of a run: what they are called, and the file and function that they are."""


def quickest(runs: Sequence[dict[str, float]]) -> dict[str, float]:
    """The run that took the least of the processor, with the most memory and calls that any took."""
    least = min(runs, key=lambda found: found["CPU s"])
    return {**least, **{name: max(found[name] for found in runs) for name in ("RSS MiB", "calls")}}


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


def run(folder: Path, *arguments: str, profile: Path | None = None) -> dict[str, float]:
    """Seconds, CPU seconds, MiB and calls of one `eval-pipeline run`."""
    profiler = [] if profile is None else ["-m", "cProfile", "-o", str(profile)]
    return timed(folder, [*profiler, "-m", "eval_pipeline", "run", "scale", *arguments])


def run_on_both_cores(folder: Path) -> dict[str, float]:
    """Likewise of Dagster's own command, the work in two shards and each in a process of its own."""
    (home := folder / "home").mkdir()
    (home / "dagster.yaml").write_text("telemetry: {enabled: false}\n")
    declared = folder / "data" / "scale" / "suite.yaml"
    whole = declared.read_text()
    declared.write_text(json.dumps({**json.loads(whole), "shards": 2}))
    (cell,) = Evaluation("", folder / "data").suite("scale").cells
    assets = ",".join(f"scale/{name}" for name in ("traces", "stage_scores", "stage_report"))
    found = timed(
        folder,
        [
            *("-m", "dagster", "asset", "materialize", "-m", "eval_pipeline.definitions"),
            *("--select", assets, "--partition", cell.partition),
        ],
        DAGSTER_HOME=str(home),
        EVAL_EXECUTOR="multiprocess",
    )
    declared.write_text(whole)
    return found


def timed(folder: Path, arguments: Sequence[str], **more: str) -> dict[str, float]:
    """Seconds, CPU seconds, MiB (of the largest process) and calls of a Python command."""
    environment = {
        **os.environ,
        "EVAL_DATA": str(folder / "data"),
        "EVAL_WAREHOUSE": str(folder / "warehouse"),
        "DAGSTER_HOME": "",
        "OPENAI_API_KEY": "none",
        **more,
    }
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed package is compiled once
    command = [sys.executable, *arguments]
    started = time.perf_counter()
    with (folder / "out.txt").open("wb") as out:
        process = subprocess.Popen(command, env=environment, stdout=out, stderr=subprocess.STDOUT)
        _, status, used = os.wait4(process.pid, 0)
    said = (folder / "out.txt").read_text()
    if os.waitstatus_to_exitcode(status) != 0:
        sys.exit(said[-3000:])
    called = re.search(r"^traces .*?(\d+) called", said, re.MULTILINE)
    return {
        "wall s": time.perf_counter() - started,
        "CPU s": used.ru_utime + used.ru_stime,
        "RSS MiB": used.ru_maxrss / 1024,
        "calls": int(called[1]) if called else 0,
    }


def measure(
    cases: int, form: str, *, profiled: bool = False, both_cores: bool = False
) -> list[dict[str, Any]]:
    """Each step with its figures, after one that records."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        write_suite(folder, cases, form)
        suite = folder / "data" / "scale"
        steps = {"recorded": run(folder, "--record-mode", "new_episodes")}
        (folder / "warehouse").rename(folder / "first")
        if both_cores:
            steps["first replay, two shards"] = run_on_both_cores(folder)
            (folder / "warehouse").rename(folder / "second")
        steps["first replay"] = run(folder)
        run(folder)  # stores that all rows are carried over
        steps["unchanged"] = quickest([run(folder) for _ in range(TIMES)])
        edited = []
        for number in range(TIMES):
            write_cases(suite, cases, form, edited=cases // 2 - number)
            edited.append(run(folder, "--record-mode", "new_episodes"))
        steps["one case edited"] = quickest(edited)
        if profiled:
            for step in ("unchanged", "one case edited"):
                write_cases(suite, cases, form, edited=cases // 2 - 2 if step == "unchanged" else cases // 3)
                run(folder, "--record-mode", "new_episodes", profile=folder / "profile")
                show_phases(f"{step}, {cases:,} cases", folder / "profile")
        return [{"cases": cases, "form": form, "step": step, **figures} for step, figures in steps.items()]


def show_phases(title: str, profile: Path) -> None:
    """Print which parts of a profiled run take which share of it; some are part of others."""
    stats: Any = pstats.Stats(str(profile))
    table = Table(title=f"where the time goes: {title}")
    table.add_column("part")
    table.add_column("share", justify="right")
    for label, file, function in PHASES:
        spent = [
            row[3]
            for (path, _, name), row in stats.stats.items()
            if name == function and (path == file or path.endswith(f"/{file}"))
        ]
        table.add_row(label, f"{max(spent, default=0) / stats.total_tt:.0%}")
    Console().print(table)


def show(results: list[dict[str, Any]]) -> None:
    """Print the figures as a table."""
    table = Table(title="scale: the whole command, start-up and report included")
    for name in results[0]:
        table.add_column(name, justify="right")
    for result in results:
        table.add_row(*(f"{v:.4g}" if isinstance(v, float) else str(v) for v in result.values()))
    Console().print(table)


def budgets(results: list[dict[str, Any]], cases: int, many: int) -> list[tuple[str, float, float]]:
    """What is held against a budget: name, figure and budget."""

    def of(step: str, size: int) -> dict[str, Any]:
        return next(found for found in results if (found["step"], found["cases"]) == (step, size))

    start_up, unchanged = of("start-up", 1)["CPU s"], of("unchanged", cases)
    held = [
        ("unchanged: CPU s", unchanged["CPU s"], UNCHANGED_S),
        ("unchanged: MiB", unchanged["RSS MiB"], UNCHANGED_MIB),
        (
            "one case edited: CPU s beyond start-up",
            of("one case edited", cases)["CPU s"] - start_up,
            EDITED_S,
        ),
        ("one case edited: calls", of("one case edited", cases)["calls"], 1),
        (
            "first replay: CPU ms a case",
            (of("first replay", cases)["CPU s"] - start_up) / cases * 1000,
            FIRST_MS,
        ),
    ]
    held.append(
        (
            "first replay in two shards: CPU ms a case, all processes",
            of("first replay, two shards", cases)["CPU s"] / cases * 1000,
            FIRST_MS,
        )
    )
    if many > cases:
        for step in ("first replay", "unchanged", "one case edited"):
            grown = (of(step, many)["RSS MiB"] - of(step, cases)["RSS MiB"]) * 1024 / (many - cases)
            held.append((f"{step}: KiB a case from {cases:,} to {many:,}", grown, KIB_A_CASE))
    return held


def main() -> None:
    """Print the figures as tables and as JSON; exit 1 when one is over its budget."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=CASES)
    parser.add_argument("--many", type=int, default=0, help=f"also that many, such as {MANY}; takes long")
    parser.add_argument("--form", choices=("jsonl", "yaml"), default="jsonl")
    chosen = parser.parse_args()
    results = [{**measure(1, chosen.form)[2], "step": "start-up"}]
    results += measure(chosen.cases, chosen.form, profiled=True, both_cores=True)
    if chosen.many:
        results += measure(chosen.many, chosen.form)
    show(results)
    held = budgets(results, chosen.cases, chosen.many)
    for name, figure, budget in held:
        print(f"{'ok  ' if figure <= budget else 'OVER'} {name}: {figure:.4g} of {budget:g}")
    named = [dict(zip(("name", "figure", "budget"), each, strict=True)) for each in held]
    print(json.dumps({"steps": results, "budgets": named}))
    sys.exit(any(figure > budget for _, figure, budget in held))


if __name__ == "__main__":
    main()
