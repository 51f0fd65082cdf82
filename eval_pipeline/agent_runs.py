"""Runs the system on the cases of a cell: traces out, one bad case never touching another."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from eval_pipeline.carry_over.reads import Reads
from eval_pipeline.cases import Case, Run
from eval_pipeline.contained import BrokeOff, contained
from eval_pipeline.errors import (
    CallFailed,
    EvalError,
    ProviderFault,
    RecordingMiss,
    RecordingMisses,
)
from eval_pipeline.event_loop import gather_in_turn, run_async
from eval_pipeline.failure_text import LONGEST_TEXT, failure_text, shortened
from eval_pipeline.models.connection import Connector, ProviderConnector
from eval_pipeline.models.run_calls import RunCalls
from eval_pipeline.own_time import LONGEST_S, own_time
from eval_pipeline.recordings import Recordings, scope
from eval_pipeline.suites import Cell, Suite
from eval_pipeline.system_building import build_system
from eval_pipeline.traces import LARGEST_COUNT, AgentTrace, System, TraceError, Usage
from eval_pipeline.warehouse.stored_text import json_text

Progress = Callable[[int, int], None]
"""Told how many runs are done, of how many."""

OnTrace = Callable[[AgentTrace], Awaitable[None]]
OpenHook = Callable[[Recordings], OnTrace]
"""Opens what is done with each trace as soon as it is there, by the recordings that its run used."""

ROUNDS_AFTER_CONFLICT = 3


@dataclass(frozen=True)
class RestsOn:
    """All that a run used beside what was known before it began."""

    calls: Mapping[str, str] = field(default_factory=dict)
    """The digest of each recorded response that it used, by id."""
    shared_calls: Mapping[str, str] = field(default_factory=dict)
    """As `calls`: what every run of the built system uses, such as the vectors of pages."""
    read: frozenset[str] = frozenset()
    """Names of what it read of documents and fixtures; see `carry_over.reads`."""


@dataclass(frozen=True)
class Finished:
    """What a run did, with the recorded calls it used."""

    trace: AgentTrace
    used: frozenset[str]
    rests_on: RestsOn = RestsOn()


def run_cell(
    suite: Suite,
    cell: Cell,
    open_recordings: Callable[[], Recordings],
    *,
    runs: Sequence[Run] | None = None,
    connector: Connector | None = None,
    calls: RunCalls | None = None,
    open_hook: OpenHook | None = None,
    on_progress: Progress = lambda done, total: None,
) -> list[AgentTrace]:
    """The traces of a cell's runs, in their order; arguments and errors are those of `finish_runs`."""
    finished = finish_runs(
        suite,
        cell,
        open_recordings,
        runs=runs,
        connector=connector,
        calls=calls,
        open_hook=open_hook,
        on_progress=on_progress,
    )
    return [run.trace for run in finished]


def finish_runs(
    suite: Suite,
    cell: Cell,
    open_recordings: Callable[[], Recordings],
    *,
    runs: Sequence[Run] | None = None,
    connector: Connector | None = None,
    calls: RunCalls | None = None,
    open_hook: OpenHook | None = None,
    on_progress: Progress = lambda done, total: None,
) -> list[Finished]:
    """What a cell's runs did and rest on, in their order.

    Args:
        suite: the suite that declares the cell.
        cell: which candidate on which dataset.
        open_recordings: opens the recordings anew; called again when another process recorded first.
        runs: which of the dataset's runs; left out, all of them.
        connector: makes the live clients; only asked on a live call.
        calls: the live calls of the evaluation that this is a part of.
        open_hook: what to do with each trace while other runs go on.
        on_progress: told after every run.

    Raises:
        RecordingMisses: on replay, listing every run that no recording answers.
    """
    runs = suite.datasets[cell.dataset].runs if runs is None else runs
    done: dict[tuple[str, int], Finished] = {}
    todo = runs
    for _ in range(ROUNDS_AFTER_CONFLICT):
        if not todo:
            break
        recordings = open_recordings()
        reads = Reads()
        try:
            ran = run_async(
                _run_all(
                    suite,
                    cell,
                    todo,
                    recordings,
                    connector or ProviderConnector(),
                    calls or RunCalls(),
                    open_hook,
                    reads,
                    on_progress,
                )
            )
        finally:
            lost = recordings.close()
        done |= with_what_they_rest_on(ran, recordings, reads)
        # What another process recorded first is what everyone replays: those runs go by its answers.
        todo = [run for run in runs if done[run.key].used & lost]
    return [done[run.key] for run in runs]


def with_what_they_rest_on(
    ran: Mapping[tuple[str, int], Finished], recordings: Recordings, reads: Reads
) -> dict[tuple[str, int], Finished]:
    """The runs, each with what it used of recordings and reads, which are those of all of them."""
    shared = recordings.digests(recordings.shared)
    return {
        key: dataclasses.replace(run, rests_on=RestsOn(recordings.digests(run.used), shared, reads.of(key)))
        for key, run in ran.items()
    }


async def _run_all(
    suite: Suite,
    cell: Cell,
    runs: Sequence[Run],
    recordings: Recordings,
    connector: Connector,
    calls: RunCalls,
    open_hook: OpenHook | None,
    reads: Reads,
    on_progress: Progress,
) -> dict[tuple[str, int], Finished]:
    """What each run did, by its key."""
    results = await try_runs(
        suite, cell, runs, recordings, connector, calls, reads, open_hook=open_hook, on_progress=on_progress
    )
    if misses := [result for result in results if isinstance(result, RecordingMiss)]:
        raise RecordingMisses(misses, record_command(suite, cell))
    return {
        run.key: result for run, result in zip(runs, results, strict=True) if isinstance(result, Finished)
    }


async def try_runs(
    suite: Suite,
    cell: Cell,
    runs: Sequence[Run],
    recordings: Recordings,
    connector: Connector,
    calls: RunCalls,
    reads: Reads,
    *,
    open_hook: OpenHook | None = None,
    on_progress: Progress = lambda done, total: None,
) -> list[Finished | RecordingMiss]:
    """What each run did, or the first call of it that no recording answers.

    Raises:
        RecordingMisses: on replay, when the system cannot even be built.
    """
    try:
        system = build_system(suite, cell, recordings, connector, calls, reads)
    except RecordingMisses as missing:
        raise RecordingMisses(missing.misses, record_command(suite, cell)) from missing
    asked = suite.system.reached_by or suite.candidates[cell.candidate].model
    window = asyncio.Semaphore(calls.window(asked))
    on_trace = None if open_hook is None else open_hook(recordings)
    finished = 0

    async def run_one(run: Run) -> Finished | RecordingMiss:
        nonlocal finished
        async with window:
            try:
                result = await run_case(system, run.case, run.repeat, timeout_s=suite.system.timeout_s)
            except RecordingMiss as miss:
                return miss
            finally:
                finished += 1
                on_progress(finished, len(runs))
        if on_trace is not None:
            await on_trace(result.trace)
        return result

    return await gather_in_turn(run_one(run) for run in runs)


async def run_case(system: System, case: Case, repeat: int = 0, *, timeout_s: float = LONGEST_S) -> Finished:
    """Run one case in one of its repeats; whatever the system raises becomes the trace's error.

    Args:
        system: the built system.
        case: what it is asked.
        repeat: which repeat of the case.
        timeout_s: seconds that its own code may take between two answers of its models.

    Raises:
        RecordingMiss: when a model call has no recording, even if the system swallowed that.
        RecordingFileError: when the recordings cannot be read or written, which is no system's doing.
    """
    with scope(case.id, repeat=repeat) as asked:
        try:
            async with own_time(asked, timeout_s) as limit:
                trace = await contained(system.run(case.asked))
            if not isinstance(trace, AgentTrace):
                raise TypeError(f"run() gave {type(trace).__name__} instead of an AgentTrace")
            _refuse_unstorable(trace)
        except (CallFailed, ProviderFault) as failure:
            source: Literal["system", "provider"] = (
                "provider" if isinstance(failure, ProviderFault) else "system"
            )
            trace = AgentTrace(
                case.id, error=TraceError(source, failure.kind, shortened(failure.message, 2 * LONGEST_TEXT))
            )
        except EvalError:
            raise  # a missing or broken recording, or a wrong set-up, is no outcome of the case
        except BrokeOff as failure:
            trace = _broke_off(case, str(failure))
        except Exception as failure:  # the system under test may raise anything
            trace = _broke_off(case, failure_text(failure))
            if isinstance(failure, TimeoutError) and limit.expired():
                text = f"run() neither ended nor asked a model for {timeout_s:g} s; see what it waits for, or"
                text += " raise timeout_s of the system"
                trace = AgentTrace(case.id, error=TraceError("system", "timeout", text))
        if asked.misses:
            raise asked.misses[0]
    usage = Usage(asked.calls, asked.called, asked.input_tokens, asked.output_tokens, asked.cost)
    trace = dataclasses.replace(
        trace,
        case_id=case.id,
        repeat=repeat,
        usage=usage,
        # On replay the clock would tell of this machine, not of the model.
        latency_ms=asked.latency_ms if asked.calls else trace.latency_ms,
        tool_schemas=asked.tool_schemas,
    )
    return Finished(trace, frozenset(asked.used))


def _refuse_unstorable(trace: AgentTrace) -> None:
    """Refuse what no row can hold, here where it is the fault of this case, not later of all that are stored.

    Raises:
        TypeError: naming the field.
    """
    if not abs(trace.latency_ms) <= LARGEST_COUNT:
        raise TypeError(f"latency_ms is {trace.latency_ms}; give milliseconds")
    try:
        for call in trace.tool_calls:
            json_text(call.arguments, f"arguments of {call.name}")
        json_text(trace.messages, "messages")
        json_text(trace.structured, "structured output")
    except (EvalError, ValueError, RecursionError) as failure:
        raise TypeError(failure_text(failure)) from None


def _broke_off(case: Case, why: str) -> AgentTrace:
    return AgentTrace(case.id, error=TraceError("system", "raised", why))


def record_command(suite: Suite, cell: Cell) -> str:
    """The command that records what a cell lacks."""
    candidate = suite.candidates[cell.candidate].name
    dataset = suite.datasets[cell.dataset].name
    return (
        f"eval-pipeline run {suite.name} --candidate {candidate} --dataset {dataset} "
        "--record-mode new_episodes"
    )
