"""`suite.yaml` as written: one model for each block of the file."""

from __future__ import annotations

import re

from pydantic import BaseModel, ConfigDict, Field, JsonValue, field_validator

from eval_pipeline.model_settings import EmbedderSettings, ModelSettings
from eval_pipeline.scores import Gating

MODULE = r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*"


class StageFields(BaseModel):
    """One step of the quality ladder."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    scorer: str
    """`package.module:Class` of the scorer."""
    parameters: dict[str, JsonValue] = Field(default_factory=dict)
    """Fields of the scorer."""
    threshold: float = Field(default=1.0, ge=0, le=1, allow_inf_nan=False)
    """The score that passes, compared unrounded with >=."""
    gating: Gating | None = None
    """Left out: `when_calibrated` for judged scorers, `always` for the others."""

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


class CandidateFields(BaseModel):
    """One configuration of the system."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    model: ModelSettings
    prompt: str | None = None
    """Name of a file in `prompts/`, without `.md`."""
    embedder: EmbedderSettings | None = None
    parameters: dict[str, JsonValue] = Field(default_factory=dict)
    """The system's own parameters."""
    datasets: list[str] | None = None
    """The datasets it is evaluated on; left out: all of them."""
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
    system: str
    """Importable module of the system under test."""
    stages: list[StageFields] = Field(min_length=1)
    candidates: dict[str, CandidateFields] = Field(min_length=1)

    @field_validator("system")
    @classmethod
    def _is_a_module(cls, system: str) -> str:
        if not re.fullmatch(MODULE, system):
            raise ValueError(f"{system!r} is not 'package.module'")
        return system
