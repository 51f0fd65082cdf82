"""Imports DeepEval so that it sends no telemetry, reads no `.env` and writes no `.deepeval`."""

from __future__ import annotations

import functools
import os
from types import ModuleType


@functools.cache
def import_deepeval() -> ModuleType:
    """DeepEval, imported once; it takes seconds, so only when something is scored."""
    os.environ["DEEPEVAL_TELEMETRY_OPT_OUT"] = "1"
    os.environ["DEEPEVAL_DISABLE_DOTENV"] = "1"
    import deepeval.metrics
    import deepeval.models
    import deepeval.test_case

    return deepeval
