"""The executor of the definitions: in this process, or whatever runs several steps at once."""

import importlib

import dagster as dg

from eval_pipeline.errors import InputError

EXECUTORS = {
    # Six small assets take 34 s with one process each, and 5 s in one.
    "in_process": dg.in_process_executor,
    "multiprocess": dg.multiprocess_executor,
}


def find_executor(name: str) -> dg.ExecutorDefinition:
    """The executor of that name, or that `module:attribute` names, such as `dagster_celery:celery_executor`.

    Raises:
        InputError: when there is none.
    """
    if name in EXECUTORS:
        return EXECUTORS[name]
    known = ", ".join([*EXECUTORS, "or a module and its executor such as dagster_celery:celery_executor"])
    module, colon, attribute = name.partition(":")
    if not colon:
        raise InputError(f"EVAL_EXECUTOR is {name!r}; set {known}")
    try:
        found = getattr(importlib.import_module(module), attribute, None)
    except ImportError as failure:
        raise InputError(
            f"EVAL_EXECUTOR is {name!r}: {failure}; install what has it, or set {known}"
        ) from None
    if not isinstance(found, dg.ExecutorDefinition):
        raise InputError(f"EVAL_EXECUTOR is {name!r}, which is no executor; set {known}")
    return found
