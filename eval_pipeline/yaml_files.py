"""YAML files read strictly: each problem names file and line, and nothing silently becomes something else."""

from __future__ import annotations

from pathlib import Path

import yaml

from eval_pipeline.errors import InputError
from eval_pipeline.garbage_collection import collector_paused
from eval_pipeline.suggestions import did_you_mean as did_you_mean
from eval_pipeline.validation import validate as validate
from eval_pipeline.yaml_data import YamlFile, build_data

REMEDIES = {
    "tab character": "indent with spaces, not with tabs",
    "cannot start any token": "indent with spaces, and put text that begins with a special sign in quotes",
    "mapping values are not allowed": "put text that holds ': ' in quotes",
    "another document": "keep one document a file, without '---' between",
    "undefined alias": "define it with '&' above, or put text that begins with '*' in quotes",
    "end of stream": "close the quote that begins here",
    "expected ',' or": "close the bracket that begins here, and put a comma between what it holds",
    "second occurrence": "an anchor of this name stands above; rename one",
    "nesting depth": "make it flatter",
    "escape": "write the sign itself, or use single quotes",
}
"""What helps, by a part of libyaml's message."""
ANY_REMEDY = "look at the indentation, the quotes and the brackets here"
UNCLOSED = ("end of stream", "expected ',' or")


def read_text(path: Path, error: type[InputError]) -> str:
    """A file's text, the same whether it was saved with a BOM or with CRLF line ends.

    Raises:
        InputError: of the given type, for a file that cannot be read and for what is no text.
    """
    try:
        raw = path.read_bytes()
    except OSError as failure:
        raise error(f"{path}: cannot be read: {failure.strerror}") from failure
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as failure:
        line = raw[: failure.start].count(b"\n") + 1
        raise error(
            f"{path}:{line}: byte {raw[failure.start]:#04x} is not UTF-8; save the file as UTF-8"
        ) from failure
    if "\0" in text:
        line = text[: text.index("\0")].count("\n") + 1
        raise error(f"{path}:{line}: a NUL character, as in a binary or UTF-16 file; save the file as UTF-8")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def read_yaml(path: Path, error: type[InputError] = InputError, *, exact: bool = False) -> YamlFile:
    """Read one YAML file, keeping the place of every value.

    Args:
        path: the file.
        error: the type to raise.
        exact: refuse decimals that lose a digit (`2.10` is 2.1), for data that no model checks.

    Raises:
        InputError: of the given type: no text, no YAML, duplicate keys, dates, `.nan`, `012`, `no` …
    """
    text = read_text(path, error)
    with collector_paused():
        return build_data(path, _compose(path, text, error), error, exact=exact)


def _compose(path: Path, text: str, error: type[InputError]) -> yaml.Node | None:
    try:
        return yaml.compose(text, Loader=yaml.CSafeLoader)
    except yaml.MarkedYAMLError as failure:
        raise error(_syntax_problem(path, text, failure)) from failure
    except yaml.reader.ReaderError as failure:
        line = text.encode()[: failure.position].count(b"\n") + 1
        sign = f"U+{failure.character:04X}" if isinstance(failure.character, int) else failure.character
        raise error(f"{path}:{line}: not YAML: the control character {sign}; remove it") from failure


def _syntax_problem(path: Path, text: str, failure: yaml.MarkedYAMLError) -> str:
    problem = failure.problem or failure.context or "unreadable"
    # What is never closed is noticed at the end of the file; it is mended where it begins.
    unclosed = any(part in problem for part in UNCLOSED) and failure.context_mark is not None
    mark = failure.context_mark if unclosed else failure.problem_mark
    line = min(mark.line, text.rstrip().count("\n")) + 1 if mark else 1
    remedy = next((text for part, text in REMEDIES.items() if part in problem), ANY_REMEDY)
    return f"{path}:{line}: not YAML: {problem}; {remedy}"
