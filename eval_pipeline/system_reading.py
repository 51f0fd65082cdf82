"""From the `system:` of a suite to what it offers."""

from __future__ import annotations

from dataclasses import replace

from eval_pipeline.boundary.settings import SystemFields
from eval_pipeline.system_spec import SystemSpec, load_system


def read_system(fields: SystemFields, place: str) -> SystemSpec:
    """The system as its module, its function's source or its endpoint's settings say.

    Raises:
        SuiteError: when a module or function cannot be used; begins with `place`.
    """
    if fields.http is not None:
        from eval_pipeline.boundary.http_system import http_spec

        return http_spec(fields.http, place)
    if fields.function is not None:
        from eval_pipeline.boundary.function_system import function_spec

        return function_spec(fields, place)
    loaded = load_system(fields.module or "", place)
    return loaded if fields.timeout_s is None else replace(loaded, timeout_s=fields.timeout_s)
