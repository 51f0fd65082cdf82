"""What live calls cost beside the model's own time: 500 cases, 50 in flight, a provider in a process."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import multiprocessing
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from eval_pipeline.agent_runs import run_cell
from eval_pipeline.event_loop import run_async
from eval_pipeline.recordings import Recordings
from eval_pipeline.suite_reading import find_suite
from eval_pipeline_tests.provider_replies import Reply, Say, Status
from eval_pipeline_tests.provider_stub import Asked, ProviderStub

CASES = 500
IN_FLIGHT = 50
FEW_IN_FLIGHT = 10
"""Where one processor has time to spare for every call."""
MOST = 1.1
"""Budget: wall time over that of calls × latency ÷ concurrency, and over that of a bare client."""
ROUNDS = 3
"""Each side is measured as often, in turn; the median counts, as the machine is not ours alone."""
PROMPT = "Answer in one sentence."


@dataclass(frozen=True)
class Measured:
    """One pass over the cases."""

    wall_s: float
    cpu_s: float
    calls: int
    """As the provider counted them."""
    most_in_flight: int
    errors: int = 0


def serve(pipe: Connection) -> None:
    """The provider: tells its address, then does as it is told until the pipe closes."""
    refusing_until = 0.0

    def answer(asked: Asked) -> Reply:
        if time.monotonic() < refusing_until:
            return Status(429, "too many requests")
        return Say("One sentence.")

    with ProviderStub(answer) as stub:
        pipe.send(stub.base_url("openai"))
        with contextlib.suppress(EOFError):
            while True:
                latency_s, refuse_s = pipe.recv()
                pipe.send((stub.calls, stub.most_in_flight))
                stub.asked.clear()
                stub.most_in_flight = 0
                stub.latency_s = latency_s
                refusing_until = time.monotonic() + refuse_s


class Provider:
    """The provider's process."""

    def __init__(self, pipe: Connection) -> None:
        self._pipe = pipe
        self.base_url: str = pipe.recv()

    def begin(self, latency_s: float, refuse_s: float = 0.0) -> tuple[int, int]:
        """Set its latency; gives how many calls it had since the last time, and in flight at most."""
        self._pipe.send((latency_s, refuse_s))
        return self._pipe.recv()  # type: ignore[no-any-return]


@contextlib.contextmanager
def provider() -> Iterator[Provider]:
    """A provider in a process of its own."""
    here, there = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(target=serve, args=(there,), daemon=True)
    process.start()
    there.close()
    try:
        yield Provider(here)
    finally:
        here.close()
        process.join(10)


def questions(cases: int) -> list[str]:
    """As many different ones."""
    return [f"What is {number} plus {number}?" for number in range(cases)]


def write_suite(folder: Path, base_url: str, cases: int, in_flight: int) -> None:
    """A suite whose system asks its model once a case."""
    (folder / "data" / "bench" / "datasets").mkdir(parents=True)
    (folder / "data" / "bench" / "prompts").mkdir()
    suite = folder / "data" / "bench"
    model = {"name": "openai:bench", "base_url": base_url, "max_concurrency": in_flight}
    stage = {"name": "tools", "scorer": "eval_pipeline.scorers.tools:ToolCalls"}
    declared = {
        "system": "benchmarks.one_call_system",
        "stages": [stage],
        "candidates": {"one": {"model": model, "prompt": "v1"}},
    }
    (suite / "suite.yaml").write_text(json.dumps(declared))
    (suite / "prompts" / "v1.md").write_text(PROMPT)
    asked = [{"id": f"q{n}", "input": text, "expected": {}} for n, text in enumerate(questions(cases))]
    (suite / "datasets" / "bench.yaml").write_text(json.dumps({"version": 1, "cases": asked}))


def measure(served: Provider, work: Callable[[], int], latency_s: float, refuse_s: float = 0.0) -> Measured:
    """Do `work`, which gives how many cases failed."""
    served.begin(latency_s, refuse_s)
    wall, cpu = time.perf_counter(), time.process_time()
    errors = work()
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    return Measured(wall, cpu, *served.begin(latency_s), errors)


def measure_pipeline(
    served: Provider, cases: int, latency_s: float, refuse_s: float = 0.0, in_flight: int = IN_FLIGHT
) -> Measured:
    """Record every case into an empty folder."""
    with tempfile.TemporaryDirectory() as scratch:
        write_suite(Path(scratch), served.base_url, cases, in_flight)
        suite = find_suite(Path(scratch) / "data", "bench")
        (cell,) = suite.cells

        def record() -> int:
            traces = run_cell(suite, cell, lambda: Recordings(suite.recordings, "new_episodes"))
            return sum(trace.error is not None for trace in traces)

        return measure(served, record, latency_s, refuse_s)


def run_bare(served: Provider, cases: int, in_flight: int = IN_FLIGHT) -> int:
    """The same requests by the provider's own client, a semaphore around it and nothing else."""
    from openai import AsyncOpenAI

    async def ask_all() -> None:
        window = asyncio.Semaphore(in_flight)
        async with AsyncOpenAI(
            base_url=served.base_url, api_key="none", max_retries=0, timeout=120
        ) as client:

            async def ask(question: str) -> None:
                async with window:
                    await client.chat.completions.create(
                        model="bench",
                        messages=[
                            {"role": "system", "content": PROMPT},
                            {"role": "user", "content": question},
                        ],
                    )

            await asyncio.gather(*(ask(question) for question in questions(cases)))

    run_async(ask_all())
    return 0


def compare(served: Provider, latency_s: float, cases: int, in_flight: int) -> dict[str, Any]:
    """Pipeline and bare client in turn, and what the one takes of what the other does, and of the least."""
    rounds = [
        (
            measure(served, lambda: run_bare(served, cases, in_flight), latency_s),
            measure_pipeline(served, cases, latency_s, in_flight=in_flight),
        )
        for _ in range(ROUNDS)
    ]
    bare_wall = statistics.median(bare.wall_s for bare, _ in rounds)
    wall = statistics.median(ours.wall_s for _, ours in rounds)
    bare_cpu = statistics.median(bare.cpu_s for bare, _ in rounds)
    cpu = statistics.median(ours.cpu_s for _, ours in rounds)
    return {
        "latency s": latency_s,
        "calls": max(ours.calls for _, ours in rounds),
        "in flight": max(ours.most_in_flight for _, ours in rounds),
        "errors": sum(ours.errors for _, ours in rounds),
        "wall s": wall,
        "bare wall s": bare_wall,
        "÷ bare": wall / bare_wall,
        "÷ least": wall / (cases * latency_s / in_flight),
        "CPU ms a call": cpu / cases * 1000,
        "bare CPU ms a call": bare_cpu / cases * 1000,
        "CPU ÷ bare": cpu / bare_cpu,
    }


def recover(served: Provider, latency_s: float, cases: int) -> dict[str, Any]:
    """What a pass takes while a provider refuses everything for a second, and one before and after."""
    before = measure_pipeline(served, cases, latency_s)
    refused = measure_pipeline(served, cases, latency_s, refuse_s=1.0)
    after = measure_pipeline(served, cases, latency_s)
    return {
        "latency s": latency_s,
        "refused calls": refused.calls - cases,
        "errors": refused.errors,
        "wall s": refused.wall_s,
        "before s": before.wall_s,
        "after s": after.wall_s,
        "÷ before": after.wall_s / before.wall_s,
        "in flight after": after.most_in_flight,
    }


def show(title: str, results: list[dict[str, Any]]) -> None:
    """Print results as a table."""
    table = Table(title=title)
    for name in results[0]:
        table.add_column(name, justify="right")
    for result in results:
        table.add_row(*(f"{value:.4g}" for value in result.values()))
    Console().print(table)


def main() -> None:
    """Print the figures as tables and as JSON; exit 1 when one is over its budget."""
    os.environ.setdefault("NO_PROXY", "127.0.0.1")
    logging.getLogger("eval_pipeline").setLevel(logging.ERROR)  # each refused call is logged
    with provider() as served:
        measure(served, lambda: run_bare(served, IN_FLIGHT), 0.0)  # imports belong to no side
        measure_pipeline(served, IN_FLIGHT, 0.0)
        fast, slow = compare(served, 0.2, CASES, IN_FLIGHT), compare(served, 1.0, CASES, IN_FLIGHT)
        few = compare(served, 0.2, CASES // 5, FEW_IN_FLIGHT)
        recovered = recover(served, 0.2, CASES)
    show(f"live calls, {CASES} cases; at least calls × latency ÷ concurrency", [fast, slow, few])
    show("a provider that refuses everything for 1 s", [recovered])
    print(json.dumps({"live": [fast, slow, few], "recovered": recovered}, ensure_ascii=False))
    over = fast["÷ bare"] > MOST or slow["÷ least"] > MOST
    sys.exit(over or any(result["errors"] for result in (fast, slow, few)))


if __name__ == "__main__":
    main()
