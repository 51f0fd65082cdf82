"""Fingerprints of code: what must run again when a scorer or its settings change."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Sequence

from eval_pipeline.content_hash import sha12
from eval_pipeline.scores import Stage
from eval_pipeline.system_spec import source_hash


def ladder_fingerprint(stages: Sequence[Stage]) -> str:
    """12 digits over every stage: name, scorer, its parameters, version and source, threshold, gating."""
    return sha12([stage_content(stage) | {"source": source_hash(_module(stage))} for stage in stages])


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
    }


def _module(stage: Stage):  # type: ignore[no-untyped-def]
    return sys.modules[type(stage.scorer).__module__]
