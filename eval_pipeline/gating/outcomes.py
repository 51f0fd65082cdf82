"""What one run's checks came to, and what they were measured on: the two sides a gate compares."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, JsonValue, model_validator

from eval_pipeline.errors import ErrorSource, InputError
from eval_pipeline.outcome_names import Gating, Outcome

if TYPE_CHECKING:
    from eval_pipeline.scores import CheckResult

GateOutcome = Outcome | Literal["xfailed", "xpassed", "skipped"]
"""Our four outcomes, and three that only pytest knows; they stay distinct and never count as passed."""


class OutcomesError(InputError):
    """A file of outcomes that cannot be used."""


class _Edge(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class DeclaredStage(_Edge):
    """One stage as the suite declares it, whatever a run made of it."""

    name: str = Field(min_length=1)
    threshold: float = Field(ge=0, le=1, allow_inf_nan=False)
    scorer: str
    """What scores it, such as `package.module:Class`."""
    version: int = 1
    """The scorer's own version."""
    parameters: dict[str, JsonValue] = Field(default_factory=dict)
    gating: Gating = "always"
    on_request: bool = False
    """Whether only cases that ask for it have it."""


class EvalBlock(_Edge):
    """What a run was made with. A field left out is unknown and not compared; null means: has none."""

    suite: str | None = None
    dataset: str = Field(min_length=1)
    """`name@version`."""
    cases_sha: str | None = None
    docs_sha: str | None = None
    dataset_sha: str | None = None
    """Hash of cases, documents and fixtures together."""
    judge_id: str | None = None
    """Hash of the judge's model, settings, rubric and templates."""
    judge_model: str | None = None
    model: str | None = None
    """`provider:model`."""
    model_sha: str | None = None
    """Hash of the model with its weights and settings."""
    prompt_version: str | None = None
    prompt_sha: str | None = None
    embedder: str | None = None
    embedder_sha: str | None = None
    """Hash of the embedder with its weights and settings."""
    k: int | None = None
    parameters_sha: str | None = None
    """Hash of the system's other parameters."""
    tool_schemas_sha: str | None = None
    system_code_sha: str | None = None
    stages: tuple[DeclaredStage, ...] = Field(default=(), strict=False)
    repeats: int = Field(default=1, ge=1)
    """How often each case was to run."""

    @model_validator(mode="after")
    def _cases_are_named(self) -> EvalBlock:
        if self.cases_sha is None and self.dataset_sha is None:
            raise ValueError("neither cases_sha nor dataset_sha says which cases these are; add one")
        return self

    def known(self, field: str) -> bool:
        """Whether the field was given, be it as null."""
        return field in self.model_fields_set

    @property
    def dataset_name(self) -> str:
        """The dataset's name without its version: what a baseline is filed under."""
        return self.dataset.rpartition("@")[0] or self.dataset


class RunUsage(_Edge):
    """What a run took, summed over its cases; null where it is not known."""

    calls: int | None = Field(default=None, ge=0)
    input_tokens: int | None = Field(default=None, ge=0)
    output_tokens: int | None = Field(default=None, ge=0)
    cost_usd: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    latency_ms: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    """Mean milliseconds of one case."""


class JudgeRecord(_Edge):
    """How a judge did on answers whose defect is known, for one judged stage."""

    calibrated: bool
    """Whether the suite's minimums are met."""
    defects: int = Field(ge=0)
    caught: int = Field(ge=0)
    sound: int = Field(ge=0)
    false_alarms: int = Field(ge=0)

    def __str__(self) -> str:
        if not self.defects + self.sound:
            return "judge could score no calibration case"
        alarms = f"{self.false_alarms} false alarm{'' if self.false_alarms == 1 else 's'}"
        return f"judge caught {self.caught} of {self.defects} defects, {alarms} in {self.sound} sound answers"


class ImportedReport(_Edge):
    """Where imported outcomes come from."""

    digest: str
    """sha256 of the whole report as canonical JSON."""
    contract: dict[str, JsonValue]
    """What the run was measured on and how; its hash is the `dataset_sha`."""
    unmapped: dict[str, dict[str, float]] = Field(default_factory=dict)
    """Scores by case and metric that are kept and become no outcome."""


class CheckOutcome(NamedTuple):
    """The outcome of one check of one case in one repeat; a tuple, for there may be a hundred thousand."""

    nodeid: str
    case: str
    check: str
    outcome: GateOutcome
    gating: bool = True
    repeat: int = 0
    judge_repeat: int = 0
    error_source: ErrorSource | None = None


@dataclass(frozen=True)
class Outcomes:
    """One run: what it was made with, and every check's outcome."""

    eval: EvalBlock
    tests: tuple[CheckOutcome, ...]
    usage: RunUsage | None = None
    calibration: Mapping[str, JudgeRecord] | None = None
    """The judge's record by stage, as the run knew it; None when nothing was written down."""
    imported: ImportedReport | None = None
    """Set when the outcomes were read from a stage report."""


def node_id(suite: str, case: str, check: str) -> str:
    """`suite::case::check`."""
    return f"{suite}::{case}::{check}"


def outcomes_of_checks(
    block: EvalBlock,
    checks: Iterable[CheckResult],
    usage: RunUsage | None = None,
    calibration: Mapping[str, JudgeRecord] | None = None,
) -> Outcomes:
    """The outcomes of a run from its scored checks, in their order.

    Raises:
        OutcomesError: when the block names no suite, for node ids begin with it.
    """
    if block.suite is None:
        raise OutcomesError("eval.suite is missing; node ids begin with the suite's name")
    suite = block.suite
    return Outcomes(block, tuple(check_outcome(suite, check) for check in checks), usage, calibration)


def check_outcome(suite: str, check: CheckResult) -> CheckOutcome:
    """The outcome of one scored check of a suite."""
    return CheckOutcome(
        nodeid=node_id(suite, check.case_id, check.stage),
        case=check.case_id,
        check=check.stage,
        outcome=check.outcome,
        gating=check.gating,
        repeat=check.repeat,
        judge_repeat=check.judge_repeat,
        error_source=check.error_source,
    )
