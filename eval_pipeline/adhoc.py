"""One question to a candidate outside any dataset; nothing of it is recorded or stored."""

from __future__ import annotations

import contextlib
import tempfile
from pathlib import Path

from eval_pipeline.agent_runs import run_case
from eval_pipeline.cases import Case
from eval_pipeline.errors import RecordingMiss, RecordingMisses
from eval_pipeline.event_loop import run_async
from eval_pipeline.models.connection import Connector, ProviderConnector
from eval_pipeline.recordings import Recordings
from eval_pipeline.suites import Cell, Suite
from eval_pipeline.system_building import build_system
from eval_pipeline.traces import AgentTrace


def ask_once(suite: Suite, cell: Cell, question: str, connector: Connector | None = None) -> AgentTrace:
    """The trace of one question, from the recordings where they hold it, else from the model.

    Raises:
        ProviderFault: when the model or embedder cannot be reached while the system is built.
    """
    case = Case(question, _as_declared(suite, cell, question))
    # Outside the handler: a provider's fault is not to name the miss as its cause.
    with contextlib.suppress(RecordingMiss, RecordingMisses):
        return _ask(suite, cell, case, Recordings(suite.recordings), connector)
    with tempfile.TemporaryDirectory() as scratch:
        recordings = Recordings(Path(scratch), "new_episodes")
        try:
            return _ask(suite, cell, case, recordings, connector)
        finally:
            recordings.close()


def _as_declared(suite: Suite, cell: Cell, question: str) -> str:
    """The question as a case of the dataset has it: a block in YAML ends with a line break, words do not."""
    inputs = (case.input for case in suite.datasets[cell.dataset].cases)
    same = (known for known in inputs if isinstance(known, str) and known.strip() == question.strip())
    return next(same, question)


def _ask(
    suite: Suite, cell: Cell, case: Case, recordings: Recordings, connector: Connector | None
) -> AgentTrace:
    system = build_system(suite, cell, recordings, connector or ProviderConnector())
    return run_async(run_case(system, case)).trace
