"""Fingerprints of code: what must run again when code, a library or a scorer's settings change."""

from __future__ import annotations

import dataclasses
import hashlib
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from pathlib import Path

from eval_pipeline.boundary.sources import INSTALLED, find_source
from eval_pipeline.content_hash import content_hash, sha12
from eval_pipeline.errors import SuiteError
from eval_pipeline.scores import Stage
from eval_pipeline.suites import Suite
from eval_pipeline.system_spec import SystemSpec, source_hash

OWN = __name__.partition(".")[0]
SHOWN_ONLY = ("assets", "cli", "comparing", "gating", "planning", "report", "watching")
"""Packages of ours that no trace and no score runs through: they only wire, show or compare results."""
NAMED_BY_SUITES = ("scorers", "systems")
"""Packages of ours of which just the modules count that a suite names, and what these import of it."""


def traces_fingerprint(suite: Suite) -> str:
    """12 digits over the system's code, and over how often cases are run where that is more than once.

    Repeats are in no key: so this is what marks stored traces as stale when they change.
    """
    repeats = {set_.name: set_.repeats for set_ in suite.datasets.values() if set_.repeats > 1}
    return sha12([suite.system.code_sha, repeats]) if repeats else suite.system.code_sha[:12]


def ladder_fingerprint(suite: Suite) -> str:
    """12 digits over every stage (name, scorer, its parameters, version and source …) and every judge."""
    stages = [
        stage_content(stage) | {"source": [source_hash(sys.modules[module]) for module in _modules(stage)]}
        for stage in suite.stages
    ]
    return sha12([stages, sorted({judge.id for judge in suite.judges.values()})])


def stage_content(stage: Stage) -> dict[str, object]:
    """A stage as plain JSON: all that its declaration says."""
    scorer = stage.scorer
    return {
        "name": stage.name,
        "scorer": f"{type(scorer).__module__}:{type(scorer).__qualname__}",
        "parameters": dataclasses.asdict(scorer),  # type: ignore[call-overload]
        "version": scorer.version,
        "threshold": stage.threshold,
        "gating": stage.gating,
        **({"on_request": True} if stage.on_request else {}),
    }


def trace_code(system: SystemSpec) -> str | None:
    """Hash of all code that a trace runs through; None when it cannot be told or has changed on disk.

    It is that of the system's modules, of this package, of Python and of everything installed.
    """
    # Of a function or an endpoint `code_sha` says it all: the spec is read from its source every time.
    own = system.code_sha if system.recorded_as is not None else _unchanged(system.module)
    return _with_surroundings(own)


def score_code(stage: Stage) -> str | None:
    """Hash of all code that a stage's scores run through; None as for `trace_code`."""
    codes = [_unchanged(module) for module in _modules(stage)]
    return _with_surroundings(None if None in codes else codes[0] if len(codes) == 1 else content_hash(codes))


def report_code() -> str | None:
    """Hash of all code that a stored report is made by; None when it has changed on disk."""
    root = Path(__file__).parent

    def shown() -> str:
        return _files_hash(root, _files_of(root, SHOWN_ONLY))

    return _with_surroundings(_still("shown", shown))


def note_imported(module: str) -> None:
    """Remember the source of a module when this process has just imported it, to see whether it changes."""
    _first(f"module {module}", lambda: _module_code(module))


def forget(module: str) -> None:
    """Take it that a module will be imported anew, for who removes it from `sys.modules`."""
    _FIRST_SEEN.pop(f"module {module}", None)


def _with_surroundings(own: str | None) -> str | None:
    core = _still("core", _core)
    installed = _still("installed", _installed)
    return None if None in (own, core, installed) else content_hash([own, core, installed])


def _unchanged(module: str) -> str | None:
    return _still(f"module {module}", lambda: _module_code(module))


_FIRST_SEEN: dict[str, str | None] = {}
"""What each thing hashed to when this process first looked: what it runs is that, whatever disks say now."""


def _first(name: str, look: Callable[[], str | None]) -> str | None:
    if name not in _FIRST_SEEN:
        _FIRST_SEEN[name] = look()
    return _FIRST_SEEN[name]


def _still(name: str, look: Callable[[], str | None]) -> str | None:
    """What something hashes to, or None when it has changed since this process first looked."""
    first = _first(name, look)
    return first if first == look() else None


def _module_code(module: str) -> str | None:
    """Hash of a module and what it imports of its project; of ours, of its own package alone."""
    parts = module.split(".")
    ours = parts[0] == OWN
    try:
        own = find_source(module, module, within=".".join(parts[:2]) if ours else None).sha
    except SuiteError:
        return None  # made up in memory, or compiled
    root = Path(__file__).parent
    # One of somebody else's may extend any of ours.
    return own if ours else content_hash([own, _files_hash(root, _files_of(root, NAMED_BY_SUITES))])


def _core() -> str:
    """Hash of the sources of this package, but for what only shows results and what suites name."""
    root = Path(__file__).parent
    return _files_hash(root, sorted(_core_files(root)))


def _core_files(root: Path) -> Iterator[Path]:
    yield from root.glob("*.py")
    for folder in root.iterdir():
        if folder.is_dir() and folder.name not in (*SHOWN_ONLY, *NAMED_BY_SUITES):
            yield from folder.rglob("*.py")


def _files_of(root: Path, packages: Iterable[str]) -> list[Path]:
    return sorted(path for name in packages for path in (root / name).rglob("*.py"))


def _files_hash(root: Path, paths: Iterable[Path]) -> str:
    whole = hashlib.sha256()
    skipped = len(str(root))
    for path in paths:
        found = os.stat(path)
        whole.update(str(path)[skipped:].encode() + b"\0")
        whole.update(_file_digest(str(path), found.st_mtime_ns, found.st_size, found.st_ino))
    return whole.hexdigest()


@lru_cache(maxsize=2048)
def _file_digest(path: str, changed: int, size: int, number: int) -> bytes:
    """Digest of a file that is as it was: its time, size and number are what the cache goes by."""
    return hashlib.sha256(Path(path).read_bytes()).digest()


def _installed() -> str:
    """Hash of Python's version and of the name and version of everything installed."""
    endings = (".dist-info", ".egg-info")
    folders = [Path(folder) for folder in dict.fromkeys(sys.path) if folder.endswith(INSTALLED)]
    found = (path for folder in folders if folder.is_dir() for path in folder.iterdir())
    names = {path.name for path in found if path.name.endswith(endings)}
    return content_hash([sys.version, sorted(names)])


def _modules(stage: Stage) -> tuple[str, ...]:
    """The module of a stage's scorer, and those that its parameters name."""
    named: tuple[str, ...] = getattr(stage.scorer, "named_modules", ())
    return (type(stage.scorer).__module__, *named)


_first("core", _core)
_first("installed", _installed)
