"""A document: one page the system may retrieve; fixtures: the tables its tools look things up in."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from eval_pipeline.cases import holds_control
from eval_pipeline.errors import DocumentError
from eval_pipeline.json_data import read_json
from eval_pipeline.yaml_files import read_text, read_yaml

Content = TypeVar("Content")

DOCUMENT_ENDINGS = frozenset({".md", ".txt"})
FIXTURE_ENDINGS = frozenset({".yaml", ".yml", ".json"})


@dataclass(frozen=True)
class Document:
    """One page: its id is the file's name without the ending."""

    id: str
    text: str
    file: str = field(default="", compare=False)
    """Its file's name."""


def read_documents(folder: Path) -> tuple[Document, ...]:
    """Every page below `folder`, sorted by id; no folder means no documents.

    Raises:
        DocumentError: for undecodable or empty pages and for two pages with one id.
    """
    pages = _read_each(folder, DOCUMENT_ENDINGS, "page", _read_page)
    return tuple(page for _, page in sorted(pages.items()))


def read_fixtures(folder: Path) -> Mapping[str, Any]:
    """Every fixture file below `folder` as plain data, by the file's name without the ending.

    Raises:
        DocumentError: for unreadable or empty files and for two fixtures with one name.
    """
    return _read_each(folder, FIXTURE_ENDINGS, "fixture", _read_fixture)


def _read_each(
    folder: Path, endings: frozenset[str], noun: str, read: Callable[[Path], Content]
) -> dict[str, Content]:
    """What each file of a folder holds, by the file's name without the ending, with the problems of all."""
    problems: list[str] = []
    paths: dict[str, Path] = {}
    found: dict[str, Content] = {}
    for path in _files(folder, endings):
        name = path.stem
        if name in paths:
            problems.append(f"{path}: {noun} id {name!r} is already that of {paths[name]}; rename one file")
            continue
        paths[name] = path
        if holds_control(name):
            problems.append(f"{str(path)!r}: {noun} id {name!r} holds a control character; rename the file")
            continue
        try:
            found[name] = read(path)
        except DocumentError as failure:
            problems.extend(failure.problems)
    if problems:
        raise DocumentError(problems)
    return found


def _read_page(path: Path) -> Document:
    text = read_text(path, DocumentError)
    if not text.strip():
        raise DocumentError(f"{path}: the page is empty; write it or delete the file")
    return Document(path.stem, text, path.name)


def _read_fixture(path: Path) -> Any:
    if path.suffix.lower() == ".json":
        data = read_json(path, DocumentError)
    else:
        data = read_yaml(path, DocumentError, exact=True).data
    if data is None:
        raise DocumentError(f"{path}: the fixture is empty; write it or delete the file")
    return data


def _files(folder: Path, endings: frozenset[str]) -> list[Path]:
    """The files below a folder with one of the endings, sorted; hidden files and folders are passed over.

    Raises:
        DocumentError: when the folder is a file.
    """
    if folder.exists() and not folder.is_dir():
        raise DocumentError(f"{folder}: is a file; make it a folder")
    return sorted(
        path
        for path in folder.rglob("*")
        if path.suffix.lower() in endings
        and not any(part.startswith(".") for part in path.relative_to(folder).parts)
        and (path.is_file() or (path.is_symlink() and not path.exists()))  # a dangling link is a lost page
    )
