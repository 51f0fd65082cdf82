"""The policy: the written rules a gate applies, read from a reviewed `policy.yaml`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from eval_pipeline.errors import InputError
from eval_pipeline.gating.node_names import NamePatterns
from eval_pipeline.gating.outcomes import CheckOutcome, Outcomes
from eval_pipeline.suggestions import did_you_mean
from eval_pipeline.yaml_files import read_yaml, validate

Releasable = Literal["model", "prompt", "index"]
"""What may differ between the sides; `index` is the embedder, k and the documents."""
CasePasses = Literal["all", "majority"]
DEFAULT_MAY_CHANGE: tuple[Releasable, ...] = ("model", "prompt")


class PolicyError(InputError):
    """A policy that cannot be applied."""


class PolicyFields(BaseModel):
    """`policy.yaml` as written."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    max_regressions: int = Field(default=0, ge=0)
    min_pass_rate: float = 0.9
    critical: tuple[str, ...] = ()
    max_unmeasured: int = Field(default=0, ge=0)
    require_calibrated_judge: tuple[str, ...] = ()
    may_change: tuple[Releasable, ...] = DEFAULT_MAY_CHANGE
    protected_cases: tuple[str, ...] = ()
    repeats_required: int = Field(default=1, ge=1)
    case_passes: CasePasses = "all"

    @field_validator("min_pass_rate", mode="before")
    @classmethod
    def _is_a_rate(cls, value: Any) -> Any:
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise ValueError(f"{value!r} is not a rate from 0 to 1; write a number such as 0.9")
        if not 0 <= value <= 1:
            written = (
                f"for {value:g} % write {value / 100:g}" if 1 < value <= 100 else "write one such as 0.9"
            )
            raise ValueError(f"{value!r} is not a rate from 0 to 1; {written}")
        return float(value)


@dataclass(frozen=True)
class Policy:
    """The rules of one gate; see the fields for what each does."""

    max_regressions: int = 0
    """Regressed tests that are tolerated."""
    min_pass_rate: float = 0.9
    """Share of the measured gating tests that must pass, in 0..1."""
    critical: tuple[str, ...] = ()
    """Tests that must pass whatever the baseline did, and must not go missing; see `NamePatterns`."""
    max_unmeasured: int = 0
    """Gating tests without a verdict (provider or judge errors, not measured, skipped) tolerated; never a
    critical one."""
    require_calibrated_judge: tuple[str, ...] = ()
    """Stages whose judge must be calibrated, or else nothing is decided."""
    may_change: tuple[Releasable, ...] = DEFAULT_MAY_CHANGE
    """What may differ between the sides without making them incomparable."""
    protected_cases: tuple[str, ...] = ()
    """Cases in which no test may regress, whatever `max_regressions` tolerates elsewhere."""
    repeats_required: int = 1
    """Repeats each gating test of the candidate needs."""
    case_passes: CasePasses = "all"
    """How many repeats of a case's check must pass for it to pass; majority is more than half."""
    places: Mapping[tuple[str, str], str] = field(default_factory=dict, compare=False)
    """`file:line` of each name, by its key and the name."""

    def refuse_unmatched_names(self, *sides: Outcomes) -> None:
        """Refuse names that match no test and no declared stage of any side.

        Raises:
            PolicyError: one problem a name, with what was probably meant.
        """
        if not (self.critical or self.require_calibrated_judge or self.protected_cases):
            return
        tests = [test for side in sides for test in side.tests]
        stages = {stage.name for side in sides for stage in side.eval.stages}
        if not tests and not stages:
            return  # an empty run is reported as such
        checks = stages | {test.check for test in tests}
        cases = {test.case for test in tests}
        problems = [self._unmatched("critical", name, checks, cases, tests) for name in self.critical]
        for name in self.require_calibrated_judge:
            if not any(map(NamePatterns([name]).match_text, checks)):
                problems.append(self._problem("require_calibrated_judge", name, "stage", checks))
        for name in self.protected_cases:
            if tests and not any(map(NamePatterns([name]).match_text, cases)):
                problems.append(self._problem("protected_cases", name, "case", cases))
        found = [problem for problem in problems if problem is not None]
        if found:
            raise PolicyError(found)

    def _unmatched(
        self, key: str, name: str, checks: set[str], cases: set[str], tests: list[CheckOutcome]
    ) -> str | None:
        pattern = NamePatterns([name])
        if any(map(pattern.match_check, checks)) or any(map(pattern.match, tests)):
            return None
        case, colons, check = name.rpartition("::")
        if colons and check in checks:
            return self._problem(key, name, "test", {f"{known}::{check}" for known in cases})
        head, bracket, _ = name.partition("[")
        if bracket and not colons and head in checks:
            return self._problem(key, name, "test", {f"{head}[{known}]" for known in cases})
        known_names = {f"{case}::{known}" for known in checks} if colons else checks
        return self._problem(key, name, "test", known_names)

    def _problem(self, key: str, name: str, noun: str, known: Iterable[str]) -> str:
        where = self.places.get((key, name), "policy")
        return f"{where}: {key}: {name!r} matches no {noun}{did_you_mean(name, known)}"


PUBLISHED_POLICY = Policy(critical=("test_tools", "test_faithfulness"))
"""The policy for imported stage reports, where none is given."""


def read_policy(path: Path) -> Policy:
    """Read one policy file.

    Raises:
        PolicyError: one problem a line, each with file, line, value and remedy.
    """
    file = read_yaml(path, PolicyError)
    fields = validate(file, PolicyFields, error=PolicyError).model_dump()
    places = {
        (key, name): file.where((key, index))
        for key, names in fields.items()
        if isinstance(names, tuple)
        for index, name in enumerate(names)
    }
    return Policy(**fields, places=places)
