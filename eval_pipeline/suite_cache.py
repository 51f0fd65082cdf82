"""Suites that this process has read, while no file of theirs changes: each asset of a run asks for it."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from eval_pipeline.suites import Suite

APART = frozenset({"recordings", "reports", "baselines"})
"""Folders of a suite that are no part of what is read."""
SETTLED_NS = 2_000_000_000
"""A file changed more recently may change again without its time telling: file systems' clocks are coarse."""

Stamp = tuple[tuple[str, int, int, int], ...]


@dataclass(frozen=True)
class _Read:
    suite: Suite
    stamp: Stamp


_READ: dict[Path, _Read] = {}


def read_once(folder: Path, read: Callable[[Path], Suite]) -> Suite:
    """The suite in a folder: the one read before where all its files are as they were, else `read` anew."""
    known = _READ.get(folder)
    if known is not None and known.stamp == _stamp(known.suite):
        return known.suite
    _READ.pop(folder, None)
    before = time.time_ns()
    suite = read(folder)
    # What a function's or an endpoint's spec rests on lies anywhere.
    if suite.system.recorded_as is None:
        stamp = _stamp(suite)
        if all(changed < before - SETTLED_NS for _, changed, _, _ in stamp):
            _READ[folder] = _Read(suite, stamp)
    return suite


def _stamp(suite: Suite) -> Stamp:
    """Name, time of change, size and number of every file that a suite is read from."""
    return tuple(sorted(_stats(suite)))


def _stats(suite: Suite) -> Iterator[tuple[str, int, int, int]]:
    yield from _stats_below(suite.folder, skip=APART)
    for module in {suite.system.module, *(type(stage.scorer).__module__ for stage in suite.stages)}:
        loaded = sys.modules.get(module)
        for folder in getattr(loaded, "__path__", ()):
            yield from _stats_below(folder)
        if file := getattr(loaded, "__file__", None):
            yield _stat(file)


def _stats_below(
    folder: str | Path, skip: frozenset[str] = frozenset()
) -> Iterator[tuple[str, int, int, int]]:
    for entry in os.scandir(folder):
        if entry.name in skip or entry.name == "__pycache__":
            continue
        if entry.is_dir():
            yield from _stats_below(entry.path)
        else:
            yield _stat(entry.path)


def _stat(path: str) -> tuple[str, int, int, int]:
    try:
        found = os.stat(path)
    except OSError:  # a dangling link, or gone just now
        return (path, 0, 0, 0)
    return (path, found.st_mtime_ns, found.st_size, found.st_ino)
