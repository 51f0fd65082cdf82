"""`suite.yaml` as written: one model for each block of the file."""

from __future__ import annotations

import re

from pydantic import BaseModel, ConfigDict, Field, JsonValue, field_validator

from eval_pipeline.boundary.settings import MODULE, SystemFields
from eval_pipeline.cases import Repeats
from eval_pipeline.model_settings import EmbedderSettings, ModelSettings
from eval_pipeline.scores import Gating
from eval_pipeline.shards import MOST_SHARDS


class StageFields(BaseModel):
    """One step of the quality ladder."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    scorer: str
    """`package.module:Class` of the scorer."""
    parameters: dict[str, JsonValue] = Field(default_factory=dict)
    """Fields of the scorer."""
    threshold: float | None = Field(default=None, allow_inf_nan=False)
    """The score that passes, compared unrounded with >=, in the scorer's own scale; left out: its top."""
    gating: Gating | None = None
    """Left out: `when_calibrated` for judged scorers, `always` for the others."""
    on_request: bool = False
    """Whether it applies only to the cases that name it under `expected.checks`."""

    @field_validator("name")
    @classmethod
    def _is_an_identifier(cls, name: str) -> str:
        if not re.fullmatch(r"[a-z][a-z0-9_]*", name):
            raise ValueError(f"{name!r} is no stage name; use small letters, digits and '_'")
        return name

    @field_validator("scorer")
    @classmethod
    def _is_a_class(cls, scorer: str) -> str:
        if not re.fullmatch(rf"{MODULE}:[A-Za-z_]\w*", scorer):
            raise ValueError(f"{scorer!r} is not 'package.module:Class'")
        return scorer


class CalibrationFields(BaseModel):
    """What a judge must achieve on `calibration.yaml`, on each metric, before its scores gate."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    cases: int = Field(default=4, ge=1)
    """Defects, and sound answers, that it must have scored."""
    caught: float = Field(default=0.75, gt=0, le=1, allow_inf_nan=False)
    """Share of the defects that it must catch."""
    false_alarms: float = Field(default=0.25, ge=0, lt=1, allow_inf_nan=False)
    """Share of the sound answers that it may flag."""


class CandidateFields(BaseModel):
    """One configuration of the system."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    model: ModelSettings | None = None
    """Required of a system that is a module; what others make of it is theirs."""
    prompt: str | None = None
    """Name of a file in `prompts/`, without `.md`."""
    embedder: EmbedderSettings | None = None
    parameters: dict[str, JsonValue] = Field(default_factory=dict)
    """The system's own parameters."""
    datasets: list[str] | None = None
    """The datasets it is evaluated on; left out: all of them."""
    judge: ModelSettings | None = None
    """The judge of its answers; left out: the suite's."""
    nightly: bool = False
    """Whether the nightly schedule asks it anew."""
    description: str | None = None

    @field_validator("datasets")
    @classmethod
    def _each_once(cls, datasets: list[str] | None) -> list[str] | None:
        if datasets == []:
            raise ValueError("an empty list evaluates nothing; leave 'datasets' out for all of them")
        twins = sorted({name for name in datasets or () if (datasets or []).count(name) > 1})
        if twins:
            raise ValueError(f"dataset {twins[0]!r} is listed twice; list it once")
        return datasets


class SuiteFields(BaseModel):
    """The whole of `suite.yaml`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    description: str | None = None
    system: SystemFields
    """The system under test: its module, its async function, or its endpoint."""
    stages: list[StageFields] = Field(min_length=1)
    judge: ModelSettings | None = None
    """The model behind judged stages, which stays while the model under test changes."""
    calibration: CalibrationFields | None = None
    repeats: Repeats = 1
    """How often each case is run, on the datasets that do not say so themselves."""
    shards: int = Field(default=1, ge=1, le=MOST_SHARDS)
    """Parts that each cell's runs and checks are cut into, for an executor that runs several at once."""
    candidates: dict[str, CandidateFields] = Field(min_length=1)
