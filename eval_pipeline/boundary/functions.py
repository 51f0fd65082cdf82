"""A system's function, as its source shows it and as its import gives it."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Awaitable, Callable
from typing import Any

from eval_pipeline.errors import StaleDefinitionsError, SuiteError
from eval_pipeline.user_code import import_named

Function = Callable[..., Awaitable[Any]]


def takes_context(function: Function) -> bool:
    """Whether a function takes a second argument."""
    try:
        inspect.signature(function).bind(None, None)
    except TypeError:
        return False
    return True


_IMPORTED: dict[str, str] = {}
"""Hash of each module's source when this process imported it."""


def import_function(module: str, function: str, what: str, code_sha: str) -> Function:
    """The function itself; `code_sha` is the hash of the source that it must come from.

    Raises:
        SuiteError: when it cannot be imported, or is not async.
        StaleDefinitionsError: when this process has imported it before its source was edited.
    """
    if _IMPORTED.setdefault(module, code_sha) != code_sha:
        raise StaleDefinitionsError(
            f"{what}: its source has changed since this process imported it: "
            "reload the code location, or start the command again"
        )
    found = getattr(import_named(module, what), function, None)
    called = inspect.unwrap(found) if callable(found) else found
    if not (inspect.iscoroutinefunction(called) or inspect.iscoroutinefunction(type(called).__call__)):
        raise SuiteError(f"{what}: {function!r} is no async function; write `async def {function}(input)`")
    awaitable: Function = found  # type: ignore[assignment]
    return awaitable


def refuse_unusable(tree: ast.Module, function: str, what: str) -> None:
    """Refuse a function that is not there or not async, as far as the source alone tells.

    Raises:
        SuiteError: when it is neither defined, nor imported, nor assigned, or is plainly not async.
    """
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name == function and not node.decorator_list:
            raise SuiteError(f"{what}: {function!r} is not async; write `async def {function}(input)`")
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    names |= {getattr(node, "name", "") for node in tree.body}
    names |= {
        alias.asname or alias.name
        for node in ast.walk(tree)
        if isinstance(node, (ast.Import, ast.ImportFrom))
        for alias in node.names
    }
    if function not in names and "*" not in names:
        raise SuiteError(f"{what}: the module has no {function!r}; write `async def {function}(input)` in it")


def declared_tools(tree: ast.Module) -> frozenset[str]:
    """The names of a literal `TOOLS = ("look_up", …)`, so that a misspelt expectation is found at once."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and [ast.unparse(target) for target in node.targets] == ["TOOLS"]:
            try:
                return frozenset(map(str, ast.literal_eval(node.value)))
            except (ValueError, TypeError):
                break
    return frozenset()
