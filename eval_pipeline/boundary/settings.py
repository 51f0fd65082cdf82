"""The `system:` of a suite as written: a module that builds it, a function, or an HTTP endpoint."""

from __future__ import annotations

import re
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, JsonValue, field_validator, model_validator

from eval_pipeline.boundary.json_paths import path_fault
from eval_pipeline.boundary.template import KNOWN, template_names
from eval_pipeline.model_settings import ModelSettings
from eval_pipeline.suggestions import did_you_mean

MODULE = r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*"
FUNCTION = rf"{MODULE}:[A-Za-z_]\w*"
VARIABLE = re.compile(r"\$\{(?P<name>[A-Za-z_]\w*)\}")
CREDENTIAL = re.compile(r"authorization|cookie|api[-_]?key|token|secret|password", re.IGNORECASE)
_SHAPES = {"module": (MODULE, "package.module"), "function": (FUNCTION, "package.module:function")}
_ADDRESS = re.compile(r"(https?://[^/?#\s]+|\$\{[A-Za-z_]\w*\})(?P<path>[^#\s]*)")


class BoundarySettings(ModelSettings):
    """How a system is reached, for the layer that makes live calls; its name is what recordings call it."""

    @field_validator("name")
    @classmethod
    def _known_provider(cls, name: str) -> str:
        return name


class HttpFields(BaseModel):
    """An HTTP endpoint: how it is asked, and where its reply says what."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    url: str
    """`${NAME}` stands for a variable of the environment, here and in `headers`."""
    method: Literal["POST", "PUT", "PATCH", "GET"] = "POST"
    headers: dict[str, str] = Field(default_factory=dict)
    request: JsonValue
    """Template of the JSON body, or of the query parameters of a GET."""
    answer: str
    """JSON path of the answer in the reply, as are the following."""
    tool_calls: str | None = None
    retrieved: str | None = None
    context: str | None = None
    structured: str | None = None
    timeout_s: float = Field(default=120.0, gt=0)
    max_concurrency: int = Field(default=8, ge=1)

    @property
    def path(self) -> str:
        """The URL from its path on, as written: what is asked, without where that runs."""
        found = _ADDRESS.fullmatch(self.url)
        return found["path"] if found else self.url

    @field_validator("url")
    @classmethod
    def _is_an_address(cls, url: str) -> str:
        if not _ADDRESS.fullmatch(url):
            raise ValueError(f"{url!r} is no address; write http://host:port/path or ${{NAME}}/path")
        if "@" in VARIABLE.sub("", url).partition("://")[2].partition("/")[0]:
            raise ValueError("the address holds a password; put it into `headers` as ${NAME}")
        return url

    @field_validator("headers")
    @classmethod
    def _hold_no_secret(cls, headers: dict[str, str]) -> dict[str, str]:
        for name, value in headers.items():
            if CREDENTIAL.search(name) and not VARIABLE.search(value):
                raise ValueError(f"{name!r} is a credential; write ${{NAME}} and set that variable instead")
        return headers

    @field_validator("request")
    @classmethod
    def _names_the_input(cls, request: JsonValue) -> JsonValue:
        names = [name.partition(".")[0] for name in template_names(request)]
        for name in names:
            if name not in KNOWN:
                raise ValueError(f"there is no ${name}{did_you_mean(name, KNOWN)}; a dollar sign is $$")
        if "input" not in names:
            raise ValueError("it never names $input, so that every case would be asked the same")
        return request

    @field_validator("answer", "tool_calls", "retrieved", "context", "structured")
    @classmethod
    def _is_a_path(cls, path: str | None) -> str | None:
        if path is not None and (fault := path_fault(path)):
            raise ValueError(f"{path!r} is no JSON path such as $.answer: {fault}")
        return path

    @model_validator(mode="after")
    def _query_is_flat(self) -> Self:
        if self.method == "GET" and (
            not isinstance(self.request, dict)
            or any(isinstance(value, (dict, list)) for value in self.request.values())
        ):
            raise ValueError("the `request` of a GET is its query: a mapping of names to texts")
        return self


class SystemFields(BaseModel):
    """One of `module`, `function` and `http`; a text is one of the first two."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    module: str | None = None
    """Importable module with `build(context) -> System`."""
    function: str | None = None
    """`package.module:function`, an async function of the case's input."""
    http: HttpFields | None = None
    timeout_s: float | None = Field(default=None, gt=0)
    """Seconds that one call of the function may take (120 where it is left out), or the code of a module
    between two answers of its models (600)."""
    max_concurrency: int = Field(default=8, ge=1)
    """Calls of the function under way at once."""

    @model_validator(mode="before")
    @classmethod
    def _from_text(cls, value: Any) -> Any:
        if not isinstance(value, str):
            return value
        for name, (pattern, _) in _SHAPES.items():
            if re.fullmatch(pattern, value):
                return {name: value}
        raise ValueError(f"{value!r} is not 'package.module' or 'package.module:function'")

    @model_validator(mode="after")
    def _one_of_them(self) -> Self:
        given = [name for name in ("module", "function", "http") if getattr(self, name) is not None]
        if len(given) != 1:
            found = " and ".join(given) or "none of them"
            raise ValueError(f"name one of module, function and http, found {found}")
        if self.http and self.model_fields_set & {"timeout_s", "max_concurrency"}:
            raise ValueError("timeout_s and max_concurrency are a function's; move them into `http`")
        if self.module and "max_concurrency" in self.model_fields_set:
            raise ValueError("max_concurrency is a function's; move it to the candidate's model")
        for name, (pattern, shape) in _SHAPES.items():
            value = getattr(self, name)
            if value is not None and not re.fullmatch(pattern, value):
                raise ValueError(f"{name} {value!r} is not {shape!r}")
        return self
