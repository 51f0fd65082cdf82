"""What a decision on two files of a hundred thousand outcomes costs: the whole command, start-up included."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from eval_pipeline.errors import ErrorSource
from eval_pipeline.gating.outcomes import CheckOutcome, DeclaredStage, EvalBlock, GateOutcome, Outcomes
from eval_pipeline.gating.own_outcomes import outcomes_text

OUTCOMES = 100_000
BUDGET_S, JUNIT_S = 2.0, 3.0
"""CPU seconds of one command; JUnit XML names every test, not only those that moved."""
CHECKS = ("tools", "retrieval", "faithfulness", "contextual_recall", "answer_relevancy")
POLICY = """\
max_regressions: 10
critical: [tools, "case-7::retrieval", "case-1*::faithfulness"]
protected_cases: [case-3]
case_passes: majority
"""
DRAWS: tuple[tuple[GateOutcome, ErrorSource | None], ...] = (
    ("passed", None),
    ("failed", None),
    ("error", "system"),
    ("error", "provider"),
)
WEIGHTS = (94, 4, 1, 1)


def make_run(seed: int, outcomes: int, repeats: int) -> Outcomes:
    """A run of five checks a case, of which the last only advises; most pass."""
    draw = random.Random(seed)
    block = EvalBlock(
        suite="bench",
        dataset="large@1",
        cases_sha="cases",
        model=f"openai:model-{seed}",
        prompt_version="v1",
        stages=tuple(DeclaredStage(name=name, threshold=1.0, scorer=name) for name in CHECKS),
        repeats=repeats,
    )
    tests = []
    for n in range(outcomes // repeats // len(CHECKS)):
        for check in CHECKS:
            for repeat, (outcome, source) in enumerate(draw.choices(DRAWS, WEIGHTS, k=repeats)):
                nodeid, gating = f"bench::case-{n}::{check}", check != CHECKS[-1]
                tests.append(
                    CheckOutcome(nodeid, f"case-{n}", check, outcome, gating, repeat, error_source=source)
                )
    return Outcomes(block, tuple(tests))


def run(folder: Path, *arguments: str) -> dict[str, float]:
    """Seconds, CPU seconds and MiB of one `gate` command."""
    command = [sys.executable, "-m", "eval_pipeline", "gate", "old.json", "new.json", *arguments]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    started = time.perf_counter()
    process = subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    if os.waitstatus_to_exitcode(status) != 1:
        sys.exit(f"gate {' '.join(arguments)}: exit code {os.waitstatus_to_exitcode(status)}, and 1 is right")
    return {
        "wall s": time.perf_counter() - started,
        "CPU s": used.ru_utime + used.ru_stime,
        "RSS MiB": used.ru_maxrss / 1024,
    }


def measure(repeats: int) -> list[dict[str, Any]]:
    """The command in each form, with and without a policy; of five runs the one with the least CPU."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        (folder / "policy.yaml").write_text(POLICY)
        for seed, name in enumerate(("old.json", "new.json")):
            (folder / name).write_text(outcomes_text(make_run(seed, OUTCOMES, repeats)))
        forms = [
            ["--policy", "policy.yaml"],
            *(["--format", f] for f in ("text", "json", "markdown", "junit")),
        ]
        forms.append(["--out", "decision.json"])
        return [
            {"repeats": repeats, "options": " ".join(form)}
            | min((run(folder, *form) for _ in range(5)), key=lambda figures: figures["CPU s"])
            for form in forms
        ]


def main() -> None:
    """Print the figures as a table and as JSON; exit 1 when a command is over its budget."""
    results = measure(1) + measure(5)
    table = Table(title=f"gate: {OUTCOMES:,} outcomes a side; budget {BUDGET_S:g} s CPU, JUnit {JUNIT_S:g} s")
    for name in results[0]:
        table.add_column(name, justify="right")
    for result in results:
        table.add_row(*(f"{v:.4g}" if isinstance(v, float) else str(v) for v in result.values()))
    Console().print(table)
    print(json.dumps(results))
    budgets = [JUNIT_S if "junit" in result["options"] else BUDGET_S for result in results]
    sys.exit(any(result["CPU s"] > budget for result, budget in zip(results, budgets, strict=True)))


if __name__ == "__main__":
    main()
