"""A report's key: everything its numbers depend on, so that two reports can be compared field by field."""

from __future__ import annotations

import dataclasses
from typing import Any

from eval_pipeline.model_settings import ModelSettings
from eval_pipeline.scores import Stage
from eval_pipeline.suite_text import SuiteText
from eval_pipeline.suites import Cell, Suite
from eval_pipeline.warehouse.stored_text import plain

_DIGITS = 12


def report_key(suite: Suite, cell: Cell) -> dict[str, Any]:
    """The key of a cell's report, as plain JSON; hashes have 12 digits."""
    dataset = suite.datasets[cell.dataset]
    candidate = suite.candidates[cell.candidate]
    judge = suite.judge_of(cell.candidate)
    key = {
        "suite": suite.name,
        "cases": f"{dataset.name}@{dataset.version}",
        "cases_sha": dataset.cases_sha[:_DIGITS],
        "docs_sha": dataset.docs_sha[:_DIGITS],
        "fixtures_sha": dataset.fixtures_sha[:_DIGITS],
        "dataset": cell.dataset,
        **({"repeats": dataset.repeats} if dataset.repeats > 1 else {}),
        "candidate": cell.candidate,
        "prompt_version": candidate.prompt_version,
        "prompt_sha": candidate.prompt_sha[:_DIGITS],
        "k": candidate.parameters.get("k"),
        **_model("model", candidate.model),
        "tool_calling": candidate.model and candidate.model.tool_calling,
        **_model("embedder", candidate.embedder),
        "parameters": candidate.parameters,
        **_model("judge", None if judge is None else judge.model),
        "judge_id": None if judge is None else judge.id[:_DIGITS],
        "strict_faithfulness": _strict_faithfulness(suite),
        "system": suite.system.module,
        "system_code_sha": suite.system.code_sha[:_DIGITS],
        "stages": [describe_stage(stage) for stage in suite.stages],
    }
    described: dict[str, Any] = plain(key, f"suite {suite.name}")
    return described


def _model(role: str, settings: ModelSettings | None) -> dict[str, Any]:
    prefix = "" if role == "model" else f"{role}_"
    return {
        role: settings and settings.name,
        f"{prefix}weights": settings and settings.weights,
        f"{prefix}settings": settings and settings.settings,
    }


def _strict_faithfulness(suite: Suite) -> bool | None:
    """Whether ambiguous claims count against an answer; None where faithfulness is no stage."""
    found = next((stage.scorer for stage in suite.stages if stage.name == "faithfulness"), None)
    return getattr(found, "strict", None)


def describe_stage(stage: Stage) -> dict[str, Any]:
    """A stage as its suite declares it; a text file among its scorer's parameters by its hash."""
    scorer: Any = stage.scorer  # a dataclass, as the protocol's docstring asks
    kind = type(scorer)
    return {
        "name": stage.name,
        "scorer": f"{kind.__module__}:{kind.__qualname__}",
        "parameters": {
            field.name: _described(getattr(scorer, field.name)) for field in dataclasses.fields(scorer)
        },
        "version": scorer.version,
        "threshold": stage.threshold,
        "gating": stage.gating,
        **({"on_request": True} if stage.on_request else {}),
    }


def _described(parameter: Any) -> Any:
    """A scorer's parameter; of a text file its hash in place of the text."""
    if isinstance(parameter, SuiteText):
        return {"file": parameter.file, "sha": parameter.sha[:_DIGITS]}
    return parameter
