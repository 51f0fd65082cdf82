"""Code that a suite names, imported and looked at: it may raise anything, and that is the suite's problem."""

from __future__ import annotations

import importlib
import traceback
from types import ModuleType

from eval_pipeline.errors import SuiteError


def import_named(name: str, what: str) -> ModuleType:
    """Import a module; `what` says where and as what the suite names it, to begin the problem with.

    Raises:
        SuiteError: when there is no such module, or its import raises.
    """
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as failure:
        if failure.name is None or not f"{name}.".startswith(f"{failure.name}."):
            raise SuiteError(f"{what} cannot be imported: {describe_failure(failure)}") from failure
        raise SuiteError(
            f"{what} cannot be imported: no module {failure.name!r}; "
            "it is looked for on PYTHONPATH and beside the data folder"
        ) from failure
    except (Exception, SystemExit) as failure:
        raise SuiteError(f"{what} cannot be imported: {describe_failure(failure)}") from failure


def describe_failure(failure: BaseException) -> str:
    """`file:line: ZeroDivisionError: division by zero`: what was raised, and where."""
    if isinstance(failure, SyntaxError):
        return f"{failure.filename}:{failure.lineno}: {type(failure).__name__}: {failure.msg}"
    frames = traceback.extract_tb(failure.__traceback__)
    outside = [frame for frame in frames if not frame.filename.startswith("<frozen")]
    place = f"{outside[-1].filename}:{outside[-1].lineno}: " if outside else ""
    return f"{place}{type(failure).__name__}: {failure}"
