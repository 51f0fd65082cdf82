"""Which recorded calls a suite's declared candidates use: what `check` and `prune` go by."""

from __future__ import annotations

from dataclasses import dataclass

from eval_pipeline.agent_runs import run_cell
from eval_pipeline.calibration_runs import calibrate
from eval_pipeline.errors import RecordingMisses
from eval_pipeline.judge_runs import score_cell
from eval_pipeline.recordings import Recordings
from eval_pipeline.suites import Suite


@dataclass(frozen=True)
class RecordingsUse:
    """What replaying every declared cell and calibration of a suite used and lacked."""

    used: frozenset[str]
    """Ids of the entries that answered something."""
    unrecorded: tuple[str, ...]
    """Names of the candidates whose model has no recording at all."""
    missing: tuple[str, ...]
    """What each partly recorded cell lacks, in words; what would follow it is unknown."""


def replay_all(suite: Suite) -> RecordingsUse:
    """Replay every declared cell and calibration, all code included, and note which entries answer."""
    used: set[str] = set()
    unrecorded: list[str] = []
    missing: list[str] = []
    for cell in suite.cells:
        recordings = Recordings(suite.recordings)
        candidate = suite.candidates[cell.candidate]
        try:
            traces = run_cell(suite, cell, lambda opened=recordings: opened)  # type: ignore[misc]
            score_cell(suite, cell, traces, lambda opened=recordings: opened)  # type: ignore[misc]
        except RecordingMisses as misses:
            if recordings.recorded(suite.system.model_asked(candidate.model)):
                missing.append(f"{suite.name}: {candidate.name} on {cell.dataset}: {misses}")
            else:
                unrecorded.append(candidate.name)
        used |= recordings.used
    for judge in suite.judges.values() if suite.calibration else ():
        recordings = Recordings(suite.recordings)
        try:
            calibrate(suite, judge, lambda opened=recordings: opened)  # type: ignore[misc]
        except RecordingMisses as misses:
            if recordings.used:
                missing.append(f"{suite.name}: calibration of {judge.model.name}: {misses}")
        used |= recordings.used
    return RecordingsUse(frozenset(used), tuple(dict.fromkeys(unrecorded)), tuple(missing))
