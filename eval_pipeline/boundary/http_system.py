"""A system that is an HTTP endpoint, asked with a template and read with JSON paths."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from typing import Any

from eval_pipeline.boundary.answers import read_answer
from eval_pipeline.boundary.input import AnyInput
from eval_pipeline.boundary.json_paths import find_all, find_one
from eval_pipeline.boundary.recorded_system import RecordedSystem, candidate_parts
from eval_pipeline.boundary.settings import CREDENTIAL, VARIABLE, BoundarySettings, HttpFields
from eval_pipeline.boundary.template import render, template_names
from eval_pipeline.content_hash import content_hash
from eval_pipeline.errors import CallFailed, ProviderFault, SuiteError
from eval_pipeline.system_spec import SystemContext, SystemSpec
from eval_pipeline.traces import AgentTrace

RECORDED_AS = "system:http"
SHOWN = 200
"""Characters of a reply without an answer that are shown."""


def http_spec(fields: HttpFields, place: str) -> SystemSpec:
    """The system of an endpoint. Nothing of it is asked or looked up here."""
    settings = BoundarySettings(
        name=RECORDED_AS,
        base_url=fields.url,
        timeout_s=fields.timeout_s,
        max_concurrency=fields.max_concurrency,
    )
    asked = {"request": fields.request, "method": fields.method, "path": fields.path}
    read = {name: getattr(fields, name) for name in ("answer", "tool_calls", "retrieved", "context")}
    return SystemSpec(
        module=f"http {fields.method} {fields.path or '/'}",
        build=lambda context: _build(context, fields, settings, place),
        tools=frozenset(),
        parameters=None,
        input=AnyInput,
        code_sha=content_hash({**asked, **read, "structured": fields.structured, **_plain_headers(fields)}),
        recorded_as=RECORDED_AS,
        reached_by=settings,
    )


def _build(
    context: SystemContext, fields: HttpFields, settings: BoundarySettings, place: str
) -> RecordedSystem:
    models = context.models
    values = {
        "prompt": context.prompt,
        "parameters": dict(context.parameters),
        "model": models.chat_settings and models.chat_settings.name,
    }
    _refuse_unset(fields, values, place)
    parts = {
        "method and path": content_hash([fields.method, fields.path]),
        "request template": content_hash(fields.request),
        **candidate_parts(context),
    }
    if headers := _plain_headers(fields):
        parts["headers"] = content_hash(headers)
    # The variables are looked up where they will be needed: before the first case, and never on replay.
    variables = {} if models.recordings.mode == "none" else _variables(fields)
    secrets = frozenset(variables[name] for name in _secret_names(fields) if name in variables)

    async def ask(value: Any) -> dict[str, Any]:
        from eval_pipeline.boundary.http_call import Endpoint

        def filled(text: str) -> str:
            return VARIABLE.sub(lambda match: variables[match["name"]], text)

        headers = {name: filled(text) for name, text in fields.headers.items()}
        endpoint = Endpoint(
            RECORDED_AS, fields.method, filled(fields.url), headers, fields.timeout_s, secrets
        )
        return {"body": await endpoint.send(render(fields.request, {**values, "input": value}))}

    return RecordedSystem(
        context,
        settings,
        parts,
        ask,
        lambda response, case_id: _read(fields, response["body"], case_id),
        secrets=secrets,
    )


def _read(fields: HttpFields, body: Any, case_id: str) -> AgentTrace:
    """The trace of a reply, which is recorded whole: other paths read it anew without asking again."""
    answer = find_one(fields.answer, body)
    structured = find_one(fields.structured, body)
    if answer is None and structured is None:
        shown = json.dumps(body, ensure_ascii=False)[:SHOWN]
        raise CallFailed(
            "no_answer",
            f"{fields.answer} finds nothing in the reply; correct `answer`: {shown}",
        )
    answered = {
        "answer": answer if answer is None or isinstance(answer, str) else json.dumps(answer),
        "tool_calls": find_all(fields.tool_calls, body),
        "retrieved": find_all(fields.retrieved, body),
        "context": find_all(fields.context, body) if fields.context else None,
        "structured": structured,
    }
    return read_answer(answered, case_id)


def _plain_headers(fields: HttpFields) -> dict[str, str]:
    """The headers that hold no variable: they are what is asked, the others who asks."""
    return {name: text for name, text in fields.headers.items() if not VARIABLE.search(text)}


def _variables(fields: HttpFields) -> Mapping[str, str]:
    places = {f"header {name}": text for name, text in fields.headers.items()} | {"url": fields.url}
    names = {match["name"]: where for where, text in places.items() for match in VARIABLE.finditer(text)}
    unset = [f"{name} (in {where})" for name, where in names.items() if not os.environ.get(name)]
    if unset:
        raise ProviderFault(
            "no_key", f"{RECORDED_AS}: set {', '.join(unset)}, or replay with --record-mode none"
        )
    return {name: os.environ[name] for name in names}


def _secret_names(fields: HttpFields) -> Iterator[str]:
    """The variables that hold a secret: of a credential's header, and in the address after its host."""
    texts = [text for name, text in fields.headers.items() if CREDENTIAL.search(name)]
    for text in (*texts, fields.path):
        yield from (match["name"] for match in VARIABLE.finditer(text))


def _refuse_unset(fields: HttpFields, values: Mapping[str, Any], place: str) -> None:
    """Refuse a template that names what the candidate does not say."""
    for name in _candidate_names(fields):
        value: Any = values
        for step in name.split("."):
            value = value.get(step) if isinstance(value, Mapping) else None
        if value in (None, ""):
            raise SuiteError(f"{place}: the request names ${name}, which the candidate leaves out; set it")


def _candidate_names(fields: HttpFields) -> Iterator[str]:
    return (name for name in template_names(fields.request) if name.partition(".")[0] != "input")
