"""A system that is one async function: `answer(input)` or `answer(input, context)`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from eval_pipeline.boundary.answers import read_answer
from eval_pipeline.boundary.call_context import CallContext
from eval_pipeline.boundary.functions import (
    Function,
    declared_tools,
    import_function,
    refuse_unusable,
    takes_context,
)
from eval_pipeline.boundary.input import AnyInput
from eval_pipeline.boundary.recorded_system import RecordedSystem, candidate_parts
from eval_pipeline.boundary.returned import as_json
from eval_pipeline.boundary.settings import BoundarySettings, SystemFields
from eval_pipeline.boundary.sources import find_source
from eval_pipeline.contained import BrokeOff, contained
from eval_pipeline.content_hash import content_hash
from eval_pipeline.errors import CallFailed, EvalError
from eval_pipeline.failure_text import failure_text
from eval_pipeline.models.faults import classify
from eval_pipeline.recordings import current_scope
from eval_pipeline.system_spec import SystemContext, SystemSpec

FUNCTION_TIMEOUT_S = 120.0


def function_spec(fields: SystemFields, place: str) -> SystemSpec:
    """What the source says of a function; nothing is imported.

    Raises:
        SuiteError: when there is no such module or function, or it is not async.
    """
    name = fields.function or ""
    module, _, function = name.partition(":")
    what = f"{place}: system {name!r}"
    source = find_source(module, what)
    refuse_unusable(source.tree, function, what)
    settings = BoundarySettings(
        name=f"system:{name}",
        timeout_s=fields.timeout_s or FUNCTION_TIMEOUT_S,
        max_concurrency=fields.max_concurrency,
    )
    code_sha = source.sha

    def build(context: SystemContext) -> RecordedSystem:
        return _build(context, settings, code_sha, lambda: import_function(module, function, what, code_sha))

    return SystemSpec(
        module=name,
        build=build,
        tools=declared_tools(source.tree),
        parameters=None,
        input=AnyInput,
        code_sha=code_sha,
        recorded_as=settings.name,
        reached_by=settings,
    )


def _build(
    context: SystemContext, settings: BoundarySettings, code_sha: str, load: Callable[[], Function]
) -> RecordedSystem:
    given = CallContext(
        prompt=context.prompt,
        parameters=context.parameters,
        model=context.models.chat_settings,
        embedder=context.models.embedder_settings,
        documents=context.documents,
        fixtures=context.fixtures,
    )
    parts = {"system code": code_sha, **candidate_parts(context)}
    if context.documents:
        parts["documents"] = content_hash({page.id: page.text for page in context.documents})
    if context.fixtures:
        parts["fixtures"] = content_hash(context.fixtures)
    # Before the first case where it will be called, and never where it won't.
    function = None if context.models.recordings.mode == "none" else load()

    async def ask(value: Any) -> dict[str, Any]:
        assert function is not None
        model = given.model and given.model.in_repeat(current_scope().repeat)
        arguments = (value, replace(given, model=model)) if takes_context(function) else (value,)
        raised: Exception | None = None
        try:
            returned = as_json(await contained(_called(function, arguments)))
        except Exception as failure:  # the function may raise anything
            raised = failure
        if isinstance(raised, BrokeOff):
            raise CallFailed("raised", str(raised))
        if raised is None:
            return {"returned": returned, "usage": returned.get("usage")}
        raise raised if _is_anothers(raised) else CallFailed("raised", failure_text(raised))

    return RecordedSystem(
        context,
        settings,
        parts,
        ask,
        lambda response, case_id: read_answer(response["returned"], case_id),
        tells_model=True,
    )


async def _called(function: Function, arguments: tuple[Any, ...]) -> Any:
    return await function(*arguments)


def _is_anothers(failure: Exception) -> bool:
    """Whether a failure is not the function's own, but of the network or of a provider that it asks."""
    if isinstance(failure, EvalError):
        return True
    if isinstance(failure, OSError) and failure.filename is not None:
        return False  # a file that is missing
    kind = classify(failure).kind
    return kind not in ("client_error", "malformed_body", "broken_stream")
