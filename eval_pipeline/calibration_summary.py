"""What a judge's calibration comes to: caught, missed, false alarms, and whether the minimums are met."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from eval_pipeline.calibration import CalibrationScore, CalibrationSet, Expected, Minimums
from eval_pipeline.gating.outcomes import JudgeRecord
from eval_pipeline.statistics import cohens_kappa
from eval_pipeline.suites import Suite


@dataclass(frozen=True)
class CaseVerdict:
    """One calibration case under one metric, all repeats together."""

    case_id: str
    expected: Expected
    scores: tuple[float | None, ...]
    """Of each repeat; None where it could not be scored."""
    flagged: tuple[bool | None, ...]
    """Whether each repeat was below the threshold."""

    @property
    def measured(self) -> bool:
        """Whether every repeat could be scored."""
        return None not in self.flagged

    @property
    def caught(self) -> bool:
        """A defect that every repeat flags."""
        return self.expected == "defect" and all(self.flagged)

    @property
    def false_alarm(self) -> bool:
        """A sound answer that any repeat flags."""
        return self.expected == "sound" and any(self.flagged)

    @property
    def flips(self) -> bool:
        """Whether the repeats disagree."""
        return {True, False} <= set(self.flagged)


@dataclass(frozen=True)
class MetricCalibration:
    """How a judge did on one metric; cases with a repeat that could not be scored count in nothing."""

    metric: str
    verdicts: tuple[CaseVerdict, ...]
    minimums: Minimums

    @property
    def record(self) -> JudgeRecord:
        """The counts, and whether the minimums are met."""
        return JudgeRecord(
            calibrated=not self.lacking,
            defects=len(self._of("defect")),
            caught=sum(verdict.caught for verdict in self._of("defect")),
            sound=len(self._of("sound")),
            false_alarms=sum(verdict.false_alarm for verdict in self._of("sound")),
        )

    @property
    def missed(self) -> int:
        """Defects that at least one repeat let pass."""
        return sum(not verdict.caught for verdict in self._of("defect"))

    @property
    def unmeasured(self) -> int:
        """Cases that count in nothing, as a repeat could not be scored."""
        return sum(not verdict.measured for verdict in self.verdicts)

    @property
    def flips(self) -> int:
        """Cases whose repeats disagree."""
        return sum(verdict.flips for verdict in self.verdicts)

    @property
    def kappa(self) -> float | None:
        """Cohen's kappa of flagged against defect over all repeats; None while only one of the two occurs."""
        pairs = [
            (verdict.expected == "defect", bool(flag))
            for verdict in self.verdicts
            if verdict.measured
            for flag in verdict.flagged
        ]
        return cohens_kappa(pairs)

    @property
    def lacking(self) -> tuple[str, ...]:
        """Which minimums are not met, in words; none means calibrated."""
        defects, sound = self._of("defect"), self._of("sound")
        caught = sum(verdict.caught for verdict in defects)
        alarms = sum(verdict.false_alarm for verdict in sound)
        needed = self.minimums
        lacks = []
        if min(len(defects), len(sound)) < max(needed.cases, 1):
            lacks.append(
                f"scored {len(defects)} defects and {len(sound)} sound answers, needs {needed.cases} of each"
            )
        if not caught or caught / len(defects) < needed.caught:  # who flags nothing has shown nothing
            lacks.append(f"caught {caught} of {len(defects)} defects, needs {needed.caught:.0%}")
        if sound and alarms / len(sound) > needed.false_alarms:
            lacks.append(
                f"false alarms in {alarms} of {len(sound)} sound answers, allows {needed.false_alarms:.0%}"
            )
        return tuple(lacks)

    def _of(self, expected: Expected) -> list[CaseVerdict]:
        return [v for v in self.verdicts if v.expected == expected and v.measured]


def summarise_calibration(
    scores: Sequence[CalibrationScore], minimums: Minimums
) -> dict[str, MetricCalibration]:
    """How a judge did, by metric in the order of the scores."""
    by_metric: dict[str, dict[str, list[CalibrationScore]]] = {}
    for score in scores:
        by_metric.setdefault(score.metric, {}).setdefault(score.case_id, []).append(score)
    return {
        metric: MetricCalibration(metric, tuple(_verdicts(cases.values())), minimums)
        for metric, cases in by_metric.items()
    }


def _verdicts(cases: Iterable[Sequence[CalibrationScore]]) -> Iterator[CaseVerdict]:
    for scores in cases:
        ordered = sorted(scores, key=lambda score: score.judge_repeat)
        yield CaseVerdict(
            case_id=ordered[0].case_id,
            expected=ordered[0].expected,
            scores=tuple(score.score for score in ordered),
            flagged=tuple(None if score.score is None else score.outcome == "failed" for score in ordered),
        )


def too_few_calibration_cases(suite: Suite) -> Iterator[str]:
    """The stages that no calibration can let gate, as the suite has too few cases for them, in words."""
    found = suite.calibration or CalibrationSet(())
    needed = max(found.minimums.cases, 1)
    for stage in (stage for stage in suite.stages if stage.gating == "when_calibrated"):
        expected = [case.expected for case in found.cases if stage.name in case.metrics]
        defects, sound = expected.count("defect"), expected.count("sound")
        if min(defects, sound) < needed:
            counts = f"{_counted(defects, 'defect')} and {_counted(sound, 'sound answer')}"
            has = f"calibration.yaml has {counts} for it, {needed} of each is needed"
            yield f"{stage.name} can only advise: {has}"


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


def calibration_numbers(found: Mapping[str, MetricCalibration]) -> dict[str, int | float]:
    """The numbers worth plotting over time."""
    numbers: dict[str, int | float] = {}
    for metric, calibration in found.items():
        record, name = calibration.record, metric.replace(" (", "_").rstrip(")")
        numbers |= {
            f"{name}_defects": record.defects,
            f"{name}_caught": record.caught,
            f"{name}_sound": record.sound,
            f"{name}_false_alarms": record.false_alarms,
            f"{name}_flips": calibration.flips,
        }
    return numbers
