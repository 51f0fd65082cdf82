"""The system under test as a suite names it: a module with `build(context) -> System`."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from eval_pipeline.content_hash import content_hash
from eval_pipeline.documents import Document
from eval_pipeline.errors import SuiteError
from eval_pipeline.own_time import LONGEST_S
from eval_pipeline.traces import System
from eval_pipeline.user_code import import_named

if TYPE_CHECKING:
    from eval_pipeline.model_settings import ModelSettings
    from eval_pipeline.models import Models


@dataclass(frozen=True)
class SystemContext:
    """Everything a system is built from, for one cell."""

    prompt: str
    """Text of the candidate's prompt file; empty when it names none."""
    parameters: Any
    """The candidate's parameters, validated by the system's `Parameters` where it has one."""
    documents: tuple[Document, ...]
    fixtures: Mapping[str, Any]
    models: Models
    """The candidate's chat model and embedder, answering from the recording."""


@dataclass(frozen=True)
class SystemSpec:
    """What a system's module offers; only `build` is required of it."""

    module: str
    build: Callable[[SystemContext], System]
    tools: frozenset[str]
    """Names of the tools it has (`TOOLS`), so that a misspelt expectation is found at once."""
    parameters: type[BaseModel] | None
    """Model of its parameters (`Parameters`), so that a misspelt one is found at once."""
    input: type[BaseModel] | None
    """Model of a case's input (`Input`), where that is more than a question in words."""
    code_sha: str
    """Hash of the module's source, or of all sources of the package."""
    recorded_as: str | None = None
    """What recordings of its whole answers go by; None where its models' calls are what is recorded."""

    reached_by: ModelSettings | None = None
    """How it is reached, where its whole answers are what is recorded."""

    timeout_s: float = LONGEST_S
    """Seconds that the code of a run may take between two answers of its models."""

    def model_asked(self, settings: ModelSettings | None) -> str:
        """Under which name a candidate of it is recorded."""
        return self.recorded_as or (settings.name if settings else self.module)


def load_system(name: str, place: str) -> SystemSpec:
    """Import the system's module; `place` is where the suite names it.

    Raises:
        SuiteError: when it cannot be imported, has no `build`, or offers something else than it should.
    """
    what = f"{place}: system {name!r}"
    module = import_named(name, what)
    build = getattr(module, "build", None)
    if not callable(build):
        raise SuiteError(f"{what} has no function build(context) -> System")
    tools = getattr(module, "TOOLS", ())
    if not isinstance(tools, (tuple, list, set, frozenset)) or not all(
        isinstance(tool, str) for tool in tools
    ):
        raise SuiteError(f"{what}: TOOLS is {tools!r}, not a tuple of names such as ('search_docs',)")
    return SystemSpec(
        module=name,
        build=build,
        tools=frozenset(tools),
        parameters=_model(module, "Parameters", what),
        input=_model(module, "Input", what),
        code_sha=source_hash(module),
    )


def _model(module: ModuleType, name: str, what: str) -> type[BaseModel] | None:
    model = getattr(module, name, None)
    if model is not None and not (isinstance(model, type) and issubclass(model, BaseModel)):
        raise SuiteError(f"{what}: {name} is not a pydantic model")
    return model


def source_hash(module: ModuleType) -> str:
    """Hash of a module's source; of a package, of every source file in it (nothing is imported for it)."""
    if hasattr(module, "__path__"):
        folders = [Path(folder) for folder in module.__path__]
        sources = {path.relative_to(folder): path for folder in folders for path in folder.rglob("*.py")}
    else:
        own = Path(module.__file__ or "")
        sources = {Path(own.name): own} if own.suffix == ".py" else {}
    return content_hash(
        {name.as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for name, path in sources.items()}
    )
