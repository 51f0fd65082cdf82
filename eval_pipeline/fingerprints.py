"""Fingerprints of code: what must run again when a scorer or its settings change."""

from __future__ import annotations

import dataclasses
import sys

from eval_pipeline.content_hash import sha12
from eval_pipeline.scores import Stage
from eval_pipeline.suites import Suite
from eval_pipeline.system_spec import source_hash


def traces_fingerprint(suite: Suite) -> str:
    """12 digits over the system's code, and over how often cases are run where that is more than once.

    Repeats are in no key: so this is what marks stored traces as stale when they change.
    """
    repeats = {set_.name: set_.repeats for set_ in suite.datasets.values() if set_.repeats > 1}
    return sha12([suite.system.code_sha, repeats]) if repeats else suite.system.code_sha[:12]


def ladder_fingerprint(suite: Suite) -> str:
    """12 digits over every stage (name, scorer, its parameters, version and source …) and every judge."""
    stages = [stage_content(stage) | {"source": source_hash(_module(stage))} for stage in suite.stages]
    return sha12([stages, sorted({judge.id for judge in suite.judges.values()})])


def stage_content(stage: Stage) -> dict[str, object]:
    """A stage as plain JSON: all that its declaration says."""
    scorer = stage.scorer
    return {
        "name": stage.name,
        "scorer": f"{type(scorer).__module__}:{type(scorer).__qualname__}",
        "parameters": dataclasses.asdict(scorer),  # type: ignore[call-overload]
        "version": scorer.version,
        "threshold": stage.threshold,
        "gating": stage.gating,
        **({"on_request": True} if stage.on_request else {}),
    }


def _module(stage: Stage):  # type: ignore[no-untyped-def]
    return sys.modules[type(stage.scorer).__module__]
