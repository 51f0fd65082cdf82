"""Builds the system of a cell: as its candidate configures it, over its dataset's documents and fixtures."""

from __future__ import annotations

import copy

from eval_pipeline.carry_over.reads import DOCUMENTS, FIXTURES, Reads
from eval_pipeline.errors import EvalError, SuiteError
from eval_pipeline.models import Models
from eval_pipeline.models.connection import Connector
from eval_pipeline.models.run_calls import RunCalls
from eval_pipeline.recordings import Recordings
from eval_pipeline.suites import Cell, Suite
from eval_pipeline.system_spec import SystemContext
from eval_pipeline.traces import System
from eval_pipeline.user_code import describe_failure


def build_system(
    suite: Suite,
    cell: Cell,
    recordings: Recordings,
    connector: Connector,
    calls: RunCalls | None = None,
    reads: Reads | None = None,
) -> System:
    """The system as the cell's candidate configures it, over the cell's documents and fixtures.

    Args:
        suite: the suite that declares the cell.
        cell: which candidate on which dataset.
        recordings: what answers its models.
        connector: makes the live clients.
        calls: the live calls of the run.
        reads: notes what it reads of documents and fixtures.

    Raises:
        SuiteError: when the system's own `build` raises.
        EvalError: whatever of ours it raises, such as a missing recording.
    """
    candidate = suite.candidates[cell.candidate]
    dataset = suite.datasets[cell.dataset]
    parameters = dict(candidate.parameters)
    context = SystemContext(
        prompt=candidate.prompt,
        parameters=suite.system.parameters(**parameters) if suite.system.parameters else parameters,
        documents=dataset.documents,
        fixtures=copy.deepcopy(dataset.fixtures),  # a system may change its own
        models=Models(
            candidate.model,
            candidate.embedder,
            recordings,
            connector,
            calls or RunCalls(),
            asked_here=suite.system.recorded_as is None,
        ),
    )
    if reads is not None:
        context = _watched(context, suite, reads)
    try:
        return suite.system.build(context)
    except EvalError:
        raise
    except Exception as failure:  # a user's module may raise anything
        raise SuiteError(
            f"{suite.name}: build() of system {suite.system.module!r} raised: {describe_failure(failure)}"
        ) from failure


def _watched(context: SystemContext, suite: Suite, reads: Reads) -> SystemContext:
    if suite.system.recorded_as is None:
        return reads.watch(context)
    # Recorded as a whole: documents and fixtures are a part of what is asked, or none of it looks at them.
    reads.note(DOCUMENTS, whole=True)
    reads.note(FIXTURES, whole=True)
    return context
