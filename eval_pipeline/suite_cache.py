"""Suites that this process has read, while no file of theirs changes: each asset of a run asks for it."""

from __future__ import annotations

import hashlib
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from eval_pipeline.suites import Suite

APART = frozenset({"recordings", "reports", "baselines"})
"""Folders of a suite that are no part of what is read."""
SETTLED_NS = 2_000_000_000
"""A file changed more recently may change again without its time telling, as file systems' clocks are coarse:
its content is looked at too."""

Stat = tuple[str, int, int, int]
"""Name, time of change, size and number of a file."""


@dataclass(frozen=True)
class _Read:
    suite: Suite
    stamp: tuple[Stat, ...]
    contents: Mapping[str, str]
    """Digest of each file that was changed just before it was read."""

    @property
    def holds(self) -> bool:
        """Whether all files are as they were."""
        return self.stamp == _stamp(self.suite) and self.contents == _digests(self.contents)


_READ: dict[Path, _Read] = {}


def read_once(folder: Path, read: Callable[[Path], Suite]) -> Suite:
    """The suite in a folder: the one read before where all its files are as they were, else `read` anew."""
    known = _READ.pop(folder, None)
    if known is not None and known.holds:
        _READ[folder] = known
        return known.suite
    young = time.time_ns() - SETTLED_NS
    contents = _digests(path for path, changed, _, _ in _stats_below(folder, APART) if changed >= young)
    suite = read(folder)
    # What a function's or an endpoint's spec rests on lies anywhere.
    if suite.system.recorded_as is None:
        found = _Read(suite, _stamp(suite), contents)
        # A module that was changed just now may not be the one that was imported.
        if all(path in contents for path, changed, _, _ in found.stamp if changed >= young) and found.holds:
            _READ[folder] = found
    return suite


def _digests(paths: Iterable[str]) -> dict[str, str]:
    found = {}
    for path in paths:
        try:
            with open(path, "rb") as file:
                found[path] = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError:  # gone just now
            found[path] = ""
    return found


def _stamp(suite: Suite) -> tuple[Stat, ...]:
    """Name, time of change, size and number of every file that a suite is read from."""
    return tuple(sorted(_stats(suite)))


def _stats(suite: Suite) -> Iterator[Stat]:
    yield from _stats_below(suite.folder, APART)
    for module in {suite.system.module, *(type(stage.scorer).__module__ for stage in suite.stages)}:
        loaded = sys.modules.get(module)
        for folder in getattr(loaded, "__path__", ()):
            yield from _stats_below(folder)
        if file := getattr(loaded, "__file__", None):
            yield _stat(file)


def _stats_below(folder: str | Path, skip: frozenset[str] = frozenset()) -> Iterator[Stat]:
    for entry in os.scandir(folder):
        if entry.name in skip or entry.name == "__pycache__":
            continue
        if entry.is_dir():
            yield from _stats_below(entry.path)
        else:
            yield _stat(entry.path)


def _stat(path: str) -> Stat:
    try:
        found = os.stat(path)
    except OSError:  # a dangling link, or gone just now
        return (path, 0, 0, 0)
    return (path, found.st_mtime_ns, found.st_size, found.st_ino)
