"""Which recorded calls a suite's declared candidates use: what `check` and `prune` go by."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from eval_pipeline.agent_runs import record_command, run_cell
from eval_pipeline.calibration_runs import calibrate, calibrate_command
from eval_pipeline.cell_scoring import score_cell
from eval_pipeline.errors import RecordingMisses
from eval_pipeline.recordings import Recordings
from eval_pipeline.scores import CheckResult
from eval_pipeline.suites import Cell, Suite


@dataclass(frozen=True)
class RecordingsUse:
    """What replaying every declared cell and calibration of a suite used and lacked."""

    used: frozenset[str]
    """Ids of the entries that answered something."""
    unrecorded: tuple[str, ...]
    """Names of the candidates whose model has no recording at all."""
    missing: tuple[str, ...]
    """What each partly recorded cell lacks, in words; what would follow it is unknown."""
    unrecorded_judges: tuple[str, ...] = ()
    """Judges that nothing is recorded of, for a candidate's answers or for its calibration, each with the
    command that records it."""


def replay_all(suite: Suite) -> RecordingsUse:
    """Replay every declared cell and calibration, all code included, and note which entries answer."""
    used: set[str] = set()
    unrecorded: list[str] = []
    missing: list[str] = []
    unjudged: list[str] = []
    for cell in suite.cells:
        recordings = Recordings(suite.recordings, in_use=suite.in_use)
        candidate = suite.candidates[cell.candidate]
        try:
            traces = run_cell(suite, cell, lambda opened=recordings: opened)  # type: ignore[misc]
            checks = score_cell(suite, cell, traces, lambda opened=recordings: opened)  # type: ignore[misc]
            unjudged += _unjudged(suite, cell, checks)
        except RecordingMisses as misses:
            if recordings.recorded(suite.system.model_asked(candidate.model)):
                missing.append(f"{suite.name}: {candidate.name} on {cell.dataset}: {misses}")
            else:
                unrecorded.append(candidate.name)
                unjudged += _never_asked(suite, cell, recordings)
        used |= recordings.used
    for judge in suite.judges.values() if suite.calibration else ():
        recordings = Recordings(suite.recordings, in_use=suite.in_use)
        try:
            calibrate(suite, judge, lambda opened=recordings: opened)  # type: ignore[misc]
        except RecordingMisses as misses:
            if recordings.used:
                missing.append(f"{suite.name}: calibration of {judge.model.name}: {misses}")
            else:
                unjudged.append(f"calibration of judge {judge.model.name}: {calibrate_command(suite, judge)}")
        used |= recordings.used
    return RecordingsUse(
        frozenset(used), tuple(dict.fromkeys(unrecorded)), tuple(missing), tuple(dict.fromkeys(unjudged))
    )


def _unjudged(suite: Suite, cell: Cell, checks: Sequence[CheckResult]) -> Iterator[str]:
    """The judge of a recorded cell, with the stages that it is not recorded for."""
    stages = dict.fromkeys(
        check.stage for check in checks if check.outcome == "not_measured" and check.judge is not None
    )
    judge = suite.judge_of(cell.candidate)
    if stages and judge is not None:
        name = suite.candidates[cell.candidate].name
        yield (
            f"judge {judge.model.name} of candidate {name} ({', '.join(stages)}): "
            f"{record_command(suite, cell)}"
        )


def _never_asked(suite: Suite, cell: Cell, recordings: Recordings) -> Iterator[str]:
    """The judge of a cell that is not recorded itself, where nothing at all is recorded of that judge."""
    judge = suite.judge_of(cell.candidate)
    if judge is not None and not recordings.recorded(judge.model.name, "judge"):
        name = suite.candidates[cell.candidate].name
        yield f"judge {judge.model.name} of candidate {name}: {record_command(suite, cell)}"
