"""What a stored row follows from: the one place that says what invalidates what.

A trace follows from
  known before   the case's id and input, the repeat, the candidate (model and its server, prompt, embedder,
                 parameters), the code (the system's, ours, Python, everything installed)
  noted in it    the recorded responses that it used, the fixture records that it looked up, the documents
                 where its system reads them

A check follows from
  known before   the trace (all of it but how many calls were live), the case with its expectations, the stage
                 (scorer, parameters, version, threshold), whether it gates, who judges, the code (the
                 scorer's, ours, Python, everything installed)
  noted in it    the judge's recorded responses that it used

A calibration follows from
  known before   its cases, the stages that they try and their scorers' variants, who judges, the code
  noted in it    the judge's recorded responses that it used

Equal inputs make equal rows. Never carried over is what may come out otherwise next time: what a provider's
fault, an exception or the clock ended, and what was not measured.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping

from eval_pipeline.agent_runs import Finished
from eval_pipeline.calibration import CalibrationSet
from eval_pipeline.carry_over.reads import ReadContent
from eval_pipeline.cases import Run
from eval_pipeline.content_hash import content_hash
from eval_pipeline.fingerprints import score_code, stage_content, trace_code
from eval_pipeline.judges import Judge
from eval_pipeline.scores import CheckResult, Stage
from eval_pipeline.stages import gates
from eval_pipeline.suites import Cell, Suite
from eval_pipeline.traces import AgentTrace
from eval_pipeline.warehouse.row_inputs import RowInputs


class TraceInputs:
    """What the traces of one cell follow from."""

    def __init__(self, suite: Suite, cell: Cell) -> None:
        dataset = suite.datasets[cell.dataset]
        candidate = suite.candidates[cell.candidate]
        # Prices go by the server.
        self._candidate = [candidate.sha, candidate.model and candidate.model.base_url]
        self._code = trace_code(suite.system)
        self._content = ReadContent(dataset.documents, dataset.fixtures)

    def known(self, run: Run) -> str | None:
        """Hash of what is known before a run; None where its code cannot be told."""
        if self._code is None:
            return None
        return content_hash([run.case.id, run.case.input, run.repeat, self._candidate, self._code])

    def of(self, run: Run, finished: Finished) -> RowInputs | None:
        """What a trace just made followed from; None when its row is never to be carried over."""
        known = self.known(run)
        if known is None or not _is_lasting(finished.trace):
            return None
        rests_on = finished.rests_on
        used = [_call_line(entry_id, digest) for entry_id, digest in rests_on.calls.items()]
        used += [f"read {self._content.sha(name)} {name}" for name in rests_on.read]
        if rests_on.shared_calls:
            used.append(f"shared {shared_sha(rests_on.shared_calls)}")
        return RowInputs(known, tuple(sorted(used)))

    def present(self, digests: Mapping[str, str]) -> Present:
        """What the recordings and the dataset hold now, to compare stored rows with."""
        return Present(digests, self._content)


class CheckInputs:
    """What the checks of one cell follow from."""

    def __init__(self, suite: Suite, cell: Cell, calibrated: Iterable[str]) -> None:
        judge = suite.judge_of(cell.candidate)
        self._judge = None if judge is None else [judge.id, judge.label, judge.model.base_url]
        self._calibrated = frozenset(calibrated)
        self._stages = {stage.name: self._stage_sha(stage) for stage in suite.stages}

    def known(self, stage: Stage, case_sha: bytes, trace_sha: str, repeat: int) -> str | None:
        """Hash of what is known before a stage of a trace is scored; None where its code cannot be told.

        Args:
            stage: what is checked.
            case_sha: digest of what was asked and is expected.
            trace_sha: hash of what the system did.
            repeat: which of the case's runs that was.
        """
        stage_sha = self._stages[stage.name]
        if stage_sha is None:
            return None
        key = b"\0".join([stage_sha, trace_sha.encode(), str(repeat).encode(), case_sha])
        return hashlib.sha256(key).hexdigest()

    def _stage_sha(self, stage: Stage) -> bytes | None:
        code = score_code(stage)
        if code is None:
            return None
        judged = self._judge if stage.scorer.judged else None
        gating = gates(stage, stage.name in self._calibrated)
        return content_hash([stage_content(stage), gating, judged, code]).encode()


def check_inputs(known: str | None, check: CheckResult, calls: Mapping[str, str]) -> RowInputs | None:
    """What a check just made followed from; None when it is never to be carried over.

    Args:
        known: hash of what was known before.
        check: the outcome.
        calls: the digest of each of the judge's recorded responses that it used, by id.
    """
    if known is None or check.outcome == "not_measured" or check.error_source in ("provider", "scorer"):
        return None
    return RowInputs(known, _call_lines(calls))


def calibration_inputs(
    cases: CalibrationSet | None, judge: Judge, stages: Mapping[str, Stage], calls: Mapping[str, str]
) -> RowInputs | None:
    """What a calibration follows from; None where its code cannot be told.

    Args:
        cases: what the judge is tried on.
        judge: who is tried.
        stages: what the cases try, by metric.
        calls: the digest of each of the judge's recorded responses that it used, by id.
    """
    codes = {metric: score_code(stage) for metric, stage in stages.items()}
    if cases is None or None in codes.values():
        return None
    declared = {metric: stage_content(stage) for metric, stage in stages.items()}
    known = content_hash([cases.sha, judge.id, judge.label, declared, codes])
    return RowInputs(known, _call_lines(calls))


class Present:
    """What can be looked up now: recorded responses, documents and fixtures, as their hashes."""

    def __init__(self, digests: Mapping[str, str], content: ReadContent | None = None) -> None:
        self._digests = digests
        self._content = content
        self._answers: dict[str, bool] = {}

    def agrees(self, used: Iterable[str], shared: Mapping[str, Mapping[str, str]]) -> bool:
        """Whether all that a stored row used is the same now.

        Args:
            used: the lines of its inputs.
            shared: what is stored beside it: digests of shared responses by id, under the hash of all.
        """
        return all(self._agrees(line, shared) for line in used)

    def _agrees(self, line: str, shared: Mapping[str, Mapping[str, str]]) -> bool:
        kind, _, rest = line.partition(" ")
        if kind == "call":
            entry_id, _, digest = rest.partition(" ")
            return self._digests.get(entry_id) == digest
        if line not in self._answers:
            self._answers[line] = self._look_up(kind, rest, shared)
        return self._answers[line]

    def _look_up(self, kind: str, rest: str, shared: Mapping[str, Mapping[str, str]]) -> bool:
        if kind == "read" and self._content is not None:
            sha, _, name = rest.partition(" ")
            return self._content.sha(name) == sha
        if kind == "shared" and rest in shared:
            return all(self._digests.get(entry_id) == digest for entry_id, digest in shared[rest].items())
        return False


def shared_sha(calls: Mapping[str, str]) -> str:
    """16 digits over the responses that several rows share."""
    return content_hash(dict(calls))[:16]


def _is_lasting(trace: AgentTrace) -> bool:
    """Whether a trace would come out the same again: not what a fault, an exception or the clock ended."""
    error = trace.error
    return error is None or (error.source != "provider" and error.kind not in ("raised", "timeout"))


def _call_lines(calls: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(sorted(_call_line(*call) for call in calls.items()))


def _call_line(entry_id: str, digest: str) -> str:
    return f"call {entry_id} {digest}"
