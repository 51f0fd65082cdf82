"""Asks the judge about each trace as soon as it is there, while the agents of other cases still run."""

from __future__ import annotations

import asyncio

from eval_pipeline.agent_runs import OnTrace, OpenHook
from eval_pipeline.judges import JudgeCalls
from eval_pipeline.models.connection import Connector
from eval_pipeline.models.run_calls import RunCalls
from eval_pipeline.recordings import Recordings
from eval_pipeline.scores import Stage
from eval_pipeline.stages import score_stage
from eval_pipeline.suites import Cell, Suite
from eval_pipeline.traces import AgentTrace


def judging_ahead(suite: Suite, cell: Cell, connector: Connector | None, calls: RunCalls) -> OpenHook | None:
    """What asks the judged stages of a cell about one trace; None where it has none.

    Only the recording keeps what comes of it: scoring asks the same again and finds it there. So does it what
    the judge fails at, and reports that; here it is nobody's outcome. The ids of the calls really made are
    added to `calls.made_ahead`, for scoring to count them.
    """
    judge = suite.judge_of(cell.candidate)
    stages = [stage for stage in suite.stages if stage.scorer.judged]
    if judge is None or not stages:
        return None
    dataset = suite.datasets[cell.dataset]

    def open_hook(recordings: Recordings) -> OnTrace:
        asked = JudgeCalls(judge, recordings, connector, calls)
        window = asyncio.Semaphore(asked.window)

        async def ask(stage: Stage, trace: AgentTrace) -> None:
            async with window:
                scored = await score_stage(stage, dataset.case(trace.case_id), trace, asked, calibrated=False)
            calls.made_ahead |= scored.used & recordings.asked

        async def on_trace(trace: AgentTrace) -> None:
            await asyncio.gather(*(ask(stage, trace) for stage in stages))

        return on_trace

    return open_hook
