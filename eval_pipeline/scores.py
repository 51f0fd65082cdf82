"""Scores and outcomes: what one scorer says of one trace, and what that means for the case."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol

from pydantic import BaseModel

from eval_pipeline.cases import Case, Known
from eval_pipeline.content_hash import canonical_json
from eval_pipeline.errors import ErrorSource, ScorerError
from eval_pipeline.outcome_names import Gating as Gating
from eval_pipeline.outcome_names import Outcome as Outcome
from eval_pipeline.traces import AgentTrace

if TYPE_CHECKING:
    from eval_pipeline.judges import JudgeCalls

JudgedPart = Literal["question", "answer", "reference", "context"]
"""What of a case and its trace a judge is shown."""


@dataclass(frozen=True)
class Score:
    """What a scorer says of one trace: a value in 0..1 with its reason."""

    value: float
    reason: str
    passed: bool | None = None
    """The scorer's own verdict where the value alone does not decide; else value >= threshold."""
    metrics: Mapping[str, float] = field(default_factory=dict)
    """Further numbers of the same check, each in 0..1; they are stored and never gate."""
    details: Mapping[str, Any] = field(default_factory=dict)
    """Plain JSON that the report shows with the score, such as the unexpected calls."""

    @classmethod
    def trusted(cls, fields: dict[str, Any]) -> Score:
        """The score of all its fields, which were looked at when it was made: at a tenth of the time."""
        score = cls.__new__(cls)
        score.__dict__.update(fields)
        return score

    def __post_init__(self) -> None:
        if not isinstance(self.reason, str):
            raise ScorerError("reason", f"{self.reason!r} is not text")
        try:
            canonical_json(dict(self.details))
        except (TypeError, ValueError) as failure:
            raise ScorerError("details", f"not plain JSON: {failure}") from failure
        for name, number in {"score": self.value, **self.metrics}.items():
            if isinstance(number, bool) or not isinstance(number, (int, float)):
                raise ScorerError(name, f"{number!r} is not a number")
            if not math.isfinite(number) or not 0 <= number <= 1:
                raise ScorerError(name, f"{number!r} is not a number from 0 to 1")


class Scorer(Protocol):
    """Scores one trace of one case. Implementations are frozen dataclasses of their parameters.

    One with another scale than 0 to 1 has a class variable `scale`, such as (1, 5): its stages' thresholds
    are written in it, and its values are (score - lowest) / (highest - lowest).
    """

    version: ClassVar[int]
    """Raised when the same parameters begin to mean another score."""
    judged: ClassVar[bool]
    """Whether a model decides: judged stages gate only when their judge is calibrated."""

    class Expected(BaseModel):
        """The keys of a case's `expected` block that this scorer reads.

        It may depend on the scorer's parameters: then it is a cached property that gives such a class.
        """

    def problems(self, case: Case, known: Known) -> list[str]:
        """What is wrong with the case's expectations, such as a page that does not exist."""
        ...

    def applies(self, case: Case) -> bool:
        """Whether the case expects anything of this check; never depends on what a trace did."""
        ...

    def score(self, case: Case, trace: AgentTrace) -> Score | Awaitable[Score]:
        """Score a trace that has no error.

        Raises:
            ScorerError: when it cannot be scored.
        """
        ...


class JudgedScorer(Protocol):
    """Lets a model score: like a `Scorer`, but for the judge that `score` is given.

    Scorers that ask one and the same question have a class variable `asked_as`, under which its one reply is
    recorded; the first stage that uses it counts its cost.
    """

    version: ClassVar[int]
    judged: ClassVar[bool]

    class Expected(BaseModel):
        """The keys of a case's `expected` block that this scorer reads."""

    @property
    def needs(self) -> frozenset[JudgedPart]:
        """What a case must have to be judged, and a calibration case to calibrate the judge."""
        ...

    def problems(self, case: Case, known: Known) -> list[str]:
        """As a `Scorer`'s."""
        ...

    def applies(self, case: Case) -> bool:
        """As a `Scorer`'s."""
        ...

    def rubric(self) -> Mapping[str, str]:
        """Hashes of all that the judge is asked with beside the case, by name: part of the judge's id."""
        ...

    def score(self, case: Case, trace: AgentTrace, judge: JudgeCalls) -> Awaitable[Score]:
        """Score a trace that has no error, through `judge.ask`.

        Raises:
            ScorerError: of source `judge` when its reply is unusable.
        """
        ...


REQUESTS = "checks"
"""The key of `expected` under which a case names the stages that apply on request."""


@dataclass(frozen=True)
class Stage:
    """A named step of the suite's quality ladder."""

    name: str
    scorer: Scorer | JudgedScorer
    threshold: float = 1.0
    gating: Gating = "always"
    on_request: bool = False
    """Whether it applies only to the cases that name it under `expected.checks`."""

    def requested(self, case: Case) -> bool:
        """Whether the case may be checked: always, but for a stage that cases must ask for."""
        return not self.on_request or self.name in (case.expected.get(REQUESTS) or ())

    def applies(self, case: Case) -> bool:
        """Whether the case expects anything of this stage; never depends on what a trace did."""
        return self.requested(case) and self.scorer.applies(case)


@dataclass(frozen=True)
class CheckResult:
    """The outcome of one stage for one case and repeat; `score` is None when unmeasured."""

    case_id: str
    repeat: int
    stage: str
    outcome: Outcome
    gating: bool
    threshold: float
    reason: str
    score: Score | None = None
    error_source: ErrorSource | None = None
    milliseconds: float = 0.0
    judge: str | None = None
    """`provider:model@<12 digits of its id>`, of a judged stage; None where its score took no judge."""
    judge_repeat: int = 0
    calls: int = 0
    """Calls of the judge that were answered, from the recording or live."""
    tokens: int = 0
    """What these calls took, in and out."""
    called: int = 0
    """Of these calls, the ones really made now."""
    cost: float | None = None
    """List price of these calls when they were made, in US dollars; None where that is unknown."""
