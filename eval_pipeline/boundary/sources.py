"""The source of a function's project, found and hashed without importing any of it.

So a replay needs neither the function's packages nor a key that its import asks for.
"""

from __future__ import annotations

import ast
import hashlib
import importlib
import importlib.util
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from eval_pipeline.content_hash import content_hash
from eval_pipeline.errors import SuiteError

INSTALLED = ("site-packages", "dist-packages")


@dataclass(frozen=True)
class Source:
    """A module's source, and the project's modules that it imports, however far down."""

    tree: ast.Module
    files: Mapping[str, Path]
    """By path below the project's folder."""

    @property
    def sha(self) -> str:
        """Hash of all of it."""
        return content_hash(
            {name: hashlib.sha256(path.read_bytes()).hexdigest() for name, path in self.files.items()}
        )


def find_source(module: str, what: str, *, within: str | None = None) -> Source:
    """The source of `module`; `what` begins every problem with where a suite names it.

    Followed are the imports of modules that lie where this one does. Of an installed package, and of our own,
    only the package itself is; `within` names a package that the imports followed are to be of.

    Raises:
        SuiteError: when there is no such module, or its source cannot be read.
    """
    for root in _roots(module):
        if path := _file_of(module, root):
            tree = _parse(path, what)
            within = _followed(module, root) if within is None else f"{within}."
            return Source(tree, dict(_project_files(module, root, what, within=within)))
    raise SuiteError(
        f"{what}: no source of module {module!r}; it is looked for on PYTHONPATH and beside the data folder"
    )


def find_files(module: str) -> set[Path]:
    """The files that `module` is made of, whether they can be parsed or not; of ours, those of its package.

    Empty where there is no such module. What a broken file imports is not followed.
    """
    ours = module.partition(".")[0] == __name__.partition(".")[0]
    package = ".".join(module.split(".")[:2])
    for root in _roots(module):
        if _file_of(module, root):
            within = f"{package}." if ours else _followed(module, root)
            return {path for _, path in _project_files(module, root, module, within=within, broken_too=True)}
    return set()


def _roots(module: str) -> list[Path]:
    """The folders that a module's topmost package or module may lie in; it is not imported for it."""
    importlib.invalidate_caches()
    try:
        spec = importlib.util.find_spec(module.partition(".")[0])
    except (ImportError, ValueError):
        spec = None
    folders = [Path(folder) for folder in (spec and spec.submodule_search_locations) or ()]
    return [folder.parent for folder in folders] or [Path((spec and spec.origin) or "").parent]


def _followed(module: str, root: Path) -> str:
    """What the names of imports that are followed begin with: everything of a project, else one package."""
    top = module.partition(".")[0]
    return f"{top}." if root.name in INSTALLED or top == __name__.partition(".")[0] else ""


def _file_of(module: str, root: Path) -> Path | None:
    path = root.joinpath(*module.split("."))
    candidates = (path / "__init__.py", path.with_name(f"{path.name}.py"))
    return next((found for found in candidates if found.is_file()), None)


def _project_files(
    module: str, root: Path, what: str, *, within: str, broken_too: bool = False
) -> Iterator[tuple[str, Path]]:
    seen: set[str] = set()
    todo = [module]
    while todo:
        name = todo.pop()
        if name in seen or not f"{name}.".startswith(within):
            continue
        seen.add(name)
        if "." in name:
            todo.append(name.rpartition(".")[0])  # its package's own code runs first
        if (path := _file_of(name, root)) is None:
            continue
        if not within and name.partition(".")[0] == __name__.partition(".")[0]:
            continue  # our own modules, beside the user's: they are no part of the system
        yield path.relative_to(root).as_posix(), path
        package = name if path.name == "__init__.py" else name.rpartition(".")[0]
        try:
            todo += _imported(_read(path, what), path, package, what)
        except SuiteError:
            if not broken_too:
                raise


@lru_cache(maxsize=1024)
def _imported(content: bytes, path: Path, package: str, what: str) -> tuple[str, ...]:
    return tuple(_imports(_parse_content(content, path, what), package))


def _imports(tree: ast.Module, package: str) -> Iterator[str]:
    """Names of everything a module may import, `from a import b` as both `a` and `a.b`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            if base:
                yield base
                yield from (f"{base}.{alias.name}" for alias in node.names if alias.name != "*")


def _parse(path: Path, what: str) -> ast.Module:
    return _parse_content(_read(path, what), path, what)


def _read(path: Path, what: str) -> bytes:
    try:
        return path.read_bytes()
    except OSError as failure:
        raise SuiteError(f"{what}: {path} cannot be read: {failure}") from failure


def _parse_content(content: bytes, path: Path, what: str) -> ast.Module:
    try:
        return ast.parse(content, str(path))
    except SyntaxError as failure:
        raise SuiteError(f"{what}: {path}:{failure.lineno}: SyntaxError: {failure.msg}") from failure
    except ValueError as failure:
        raise SuiteError(f"{what}: {path} cannot be read: {failure}") from failure
