"""A text file of a suite that a scorer's parameter names, such as the rubric of a judge."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from pydantic import GetCoreSchemaHandler, ValidationInfo
from pydantic_core import CoreSchema, core_schema

from eval_pipeline.content_hash import content_hash
from eval_pipeline.errors import SuiteError
from eval_pipeline.suggestions import did_you_mean
from eval_pipeline.validation import FOLDER
from eval_pipeline.yaml_files import read_text


@dataclass(frozen=True)
class SuiteText:
    """A file's name, as from the suite's folder, and its text; in `suite.yaml` the name alone."""

    file: str
    text: str

    @cached_property
    def sha(self) -> str:
        """Hash of the text alone: a renamed file is the same text."""
        return content_hash(self.text)

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Validated from the name by reading the file."""
        return core_schema.with_info_plain_validator_function(cls._read)

    @classmethod
    def _read(cls, name: Any, info: ValidationInfo) -> SuiteText:
        if not isinstance(name, str):
            raise ValueError(f"{name!r} is no file's name; write one such as 'rubric.md'")
        context: dict[str, Path] = info.context or {}
        folder = Path(os.path.normpath(context[FOLDER]))
        path = Path(os.path.normpath(folder / name))
        if folder not in path.parents:
            raise ValueError(f"{name!r} is not a file inside the suite's folder")
        if not path.is_file():
            known = [found.name for found in path.parent.glob("*") if found.is_file()]
            raise ValueError(f"no file {path}{did_you_mean(path.name, known)}")
        text = read_text(path, SuiteError).strip()
        if not text:
            raise ValueError(f"{path} is empty; write it")
        return cls(name, text)
