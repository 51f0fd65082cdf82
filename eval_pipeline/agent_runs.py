"""Runs the system on every case of a cell: traces out, one bad case never touching another."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from eval_pipeline.cases import Case
from eval_pipeline.errors import CallFailed, EvalError, ProviderFault, RecordingMiss, RecordingMisses
from eval_pipeline.models import Models
from eval_pipeline.models.connection import Connector, ProviderConnector
from eval_pipeline.recordings import Recordings, scope
from eval_pipeline.suites import Cell, Suite
from eval_pipeline.system_spec import SystemContext
from eval_pipeline.traces import AgentTrace, System, TraceError, Usage

Progress = Callable[[int, int], None]
"""Told how many cases are done, of how many."""

WINDOW = 50
"""Cases under way at once; model calls are bounded apart, by each model's `max_concurrency`."""
ROUNDS_AFTER_CONFLICT = 3


@dataclass(frozen=True)
class _Run:
    """One finished run with the recorded calls it used."""

    trace: AgentTrace
    used: frozenset[str]


def run_cell(
    suite: Suite,
    cell: Cell,
    open_recordings: Callable[[], Recordings],
    *,
    connector: Connector | None = None,
    on_progress: Progress = lambda done, total: None,
) -> list[AgentTrace]:
    """The traces of a cell's cases, in the order of the dataset.

    Args:
        suite: the suite that declares the cell.
        cell: which candidate on which dataset.
        open_recordings: opens the recordings anew; called again when another process recorded first.
        connector: makes the live clients; only asked on a live call.
        on_progress: told after every case.

    Raises:
        RecordingMisses: on replay, listing every case that no recording answers.
    """
    from eval_pipeline.event_loop import run_async

    dataset = suite.datasets[cell.dataset]
    done: dict[str, _Run] = {}
    todo: Sequence[Case] = dataset.cases
    for _ in range(ROUNDS_AFTER_CONFLICT):
        recordings = open_recordings()
        try:
            runs = run_async(
                _run_all(suite, cell, todo, recordings, connector or ProviderConnector(), on_progress)
            )
        finally:
            lost = recordings.close()
        done |= {run.trace.case_id: run for run in runs}
        # What another process recorded first is what everyone replays: those cases run on its answers.
        todo = [case for case in dataset.cases if done[case.id].used & lost]
        if not todo:
            break
    return [done[case.id].trace for case in dataset.cases]


async def _run_all(
    suite: Suite,
    cell: Cell,
    cases: Sequence[Case],
    recordings: Recordings,
    connector: Connector,
    on_progress: Progress,
) -> list[_Run]:
    try:
        system = build_system(suite, cell, recordings, connector)
    except RecordingMisses as missing:
        raise RecordingMisses(missing.misses, record_command(suite, cell)) from missing
    window = asyncio.Semaphore(WINDOW)
    misses: list[RecordingMiss] = []
    finished = 0

    async def run_one(case: Case) -> _Run | None:
        nonlocal finished
        async with window:
            try:
                return await run_case(system, case)
            except RecordingMiss as miss:
                misses.append(miss)
                return None
            finally:
                finished += 1
                on_progress(finished, len(cases))

    runs = await asyncio.gather(*(run_one(case) for case in cases))
    if misses:
        order = {case.id: i for i, case in enumerate(cases)}
        misses.sort(key=lambda miss: order.get(miss.case_id, -1))
        raise RecordingMisses(misses, record_command(suite, cell))
    return [run for run in runs if run is not None]


def build_system(suite: Suite, cell: Cell, recordings: Recordings, connector: Connector) -> System:
    """The system as the cell's candidate configures it, over the cell's documents and fixtures."""
    candidate = suite.candidates[cell.candidate]
    dataset = suite.datasets[cell.dataset]
    parameters = dict(candidate.parameters)
    return suite.system.build(
        SystemContext(
            prompt=candidate.prompt,
            parameters=suite.system.parameters(**parameters) if suite.system.parameters else parameters,
            documents=dataset.documents,
            fixtures=dataset.fixtures,
            models=Models(candidate.model, candidate.embedder, recordings, connector),
        )
    )


async def run_case(system: System, case: Case, repeat: int = 0) -> _Run:
    """Run one case; whatever the system raises becomes the trace's error.

    Raises:
        RecordingMiss: when a model call has no recording, even if the system swallowed that.
    """
    with scope(case.id, repeat=repeat) as asked:
        try:
            trace = await system.run(case)
            if not isinstance(trace, AgentTrace):
                raise TypeError(f"run() gave {type(trace).__name__} instead of an AgentTrace")
        except EvalError as failure:
            if isinstance(failure, (RecordingMiss, RecordingMisses)):
                raise
            trace = AgentTrace(case.id, error=_trace_error(failure))
        except Exception as failure:  # the system under test may raise anything
            text = f"{type(failure).__name__}: {failure}"
            trace = AgentTrace(case.id, error=TraceError("system", "raised", text))
        if asked.misses:
            raise asked.misses[0]
    usage = Usage(asked.calls, asked.called, asked.input_tokens, asked.output_tokens)
    trace = dataclasses.replace(
        trace,
        case_id=case.id,
        repeat=repeat,
        usage=usage,
        # On replay the clock would tell of this machine, not of the model.
        latency_ms=asked.latency_ms if asked.calls else trace.latency_ms,
    )
    return _Run(trace, frozenset(asked.used))


def _trace_error(failure: EvalError) -> TraceError:
    if isinstance(failure, ProviderFault):
        return TraceError("provider", failure.kind, failure.message)
    if isinstance(failure, CallFailed):
        return TraceError("system", failure.kind, failure.message)
    return TraceError("system", "raised", str(failure))


def record_command(suite: Suite, cell: Cell) -> str:
    """The command that records what a cell lacks."""
    candidate = suite.candidates[cell.candidate].name
    dataset = suite.datasets[cell.dataset].name
    return (
        f"eval-pipeline run {suite.name} --candidate {candidate} --dataset {dataset} "
        "--record-mode new_episodes"
    )
