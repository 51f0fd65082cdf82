"""A dataset as JSON Lines: its settings in the first line, then a case a line; for many cases.

It is read in a tenth of the time that YAML takes, and a changed case is a changed line.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from eval_pipeline.errors import InputError
from eval_pipeline.json_data import parse_json
from eval_pipeline.problems import Problems
from eval_pipeline.yaml_data import Place, YamlFile
from eval_pipeline.yaml_files import read_text


def read_jsonl(path: Path, error: type[InputError]) -> YamlFile:
    """The file's data as a YAML dataset would give it: the first line's settings, with `cases`.

    Raises:
        InputError: of the given type, one problem a line: what is not JSON, or no object.
    """
    problems = Problems()
    rows: list[Any] = []
    numbers: list[int] = []
    for number, line in enumerate(read_text(path, error).split("\n"), start=1):
        if not line.strip():
            continue
        with problems:
            rows.append(_row(line, path, number, error))
            numbers.append(number)
    problems.raise_any(error)
    return _as_file(path, rows, numbers, error)


def read_jsonl_parts(
    path: Path, error: type[InputError], size: int
) -> Iterator[tuple[YamlFile, Sequence[int]]]:
    """The same for a large file: `size` cases at a time, each part with the settings before it.

    With each part come the numbers of its lines, that of the settings first.

    Raises:
        InputError: of the given type, when a line is not at once what it should be; `read_jsonl` says how.
    """
    rows: list[Any] = []
    numbers: list[int] = []
    with path.open("rb") as file:
        for number, raw in enumerate(file, start=1):
            line = _plain_line(raw, path, error)
            if not line.strip():
                continue
            rows.append(_row(line, path, number, error))
            numbers.append(number)
            if len(rows) > size:
                yield _as_file(path, rows, numbers, error), numbers
                rows, numbers = rows[:1], numbers[:1]
    if len(rows) > 1:
        yield _as_file(path, rows, numbers, error), numbers


def _plain_line(raw: bytes, path: Path, error: type[InputError]) -> str:
    """A line's text if there is nothing about it that `read_text` would have to look at."""
    if raw.endswith(b"\r\n"):
        raw = raw[:-2]
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as failure:
        raise error(f"{path}: not UTF-8") from failure
    if "\0" in text or "\r" in text:
        raise error(f"{path}: not plain lines")
    return text


def _row(line: str, path: Path, number: int, error: type[InputError]) -> dict[str, Any]:
    row = parse_json(line, str(path), error, line=number)
    if not isinstance(row, dict):
        raise error(f'{path}:{number}: not an object; write one case a line, such as {{"id": …}}')
    return row


def _as_file(path: Path, rows: Sequence[Any], numbers: Sequence[int], error: type[InputError]) -> YamlFile:
    head: dict[str, Any] = rows[0] if rows else {}
    if "cases" in head or "id" in head:
        raise error(
            f'{path}:{numbers[0]}: the first line holds the dataset\'s settings, such as {{"version": 1}}, '
            "and each line after it a case; write it so"
        )
    return YamlFile(path, {**head, "cases": rows[1:]} if rows else None, CaseLines(numbers), {})


class CaseLines(Mapping[Place, int]):
    """The line of each case, and of the settings; what is in a case stands in its line."""

    def __init__(self, numbers: Sequence[int]) -> None:
        self._numbers = numbers

    def __getitem__(self, place: Place) -> int:
        if place == ("cases",):
            return self._numbers[0]
        match place:
            case ("cases", int(index)) if index + 1 < len(self._numbers):
                return self._numbers[index + 1]
        raise KeyError(place)

    def __iter__(self) -> Iterator[Place]:
        yield ("cases",)
        for index in range(len(self)):
            yield ("cases", index)

    def __len__(self) -> int:
        return max(0, len(self._numbers) - 1)
