"""The files that a suite's results follow from, and what changes in them."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml
from watchfiles import Change, DefaultFilter, watch

from eval_pipeline.boundary.sources import INSTALLED, find_files
from eval_pipeline.errors import SuiteError
from eval_pipeline.suggestions import did_you_mean
from eval_pipeline.suite_reading import SUITE_FILE, make_importable

Stamp = tuple[int, int, int]
"""Time of change, size and number of a file."""
Look = Mapping[Path, Stamp]
"""How the files were when somebody looked."""

SETTLED_MS = 200
"""Edits that follow each other closer than that are one."""
LONGEST_EDIT_MS = 3000
LOOK_AGAIN_MS = 5000
"""What no event tells of, such as a change on a network drive, is seen at the latest then."""
_MODULE = r"[A-Za-z_][\w.]*"
_NAMED = re.compile(rf"({_MODULE}):[A-Za-z_]\w*$")


class _Noise(DefaultFilter):
    """Leaves out what editors, Python and recording processes write beside the files that count."""

    ignore_entity_patterns = (
        *DefaultFilter.ignore_entity_patterns,
        r"^\.",
        r"\.tmp$",
        r"^journal-.*\.jsonl$",
    )


class WatchedFiles:
    """The files of one suite's folder, and the sources of its system and scorers, broken ones too."""

    def __init__(self, folder: Path) -> None:
        """Watch the suite in `folder`, whether it can be read or not.

        Raises:
            SuiteError: when there is no such folder.
        """
        if not folder.is_dir():
            suites = [path.parent.name for path in folder.parent.glob(f"*/{SUITE_FILE}")]
            remedy = did_you_mean(folder.name, suites) or "; set EVAL_DATA to the folder that holds suites"
            raise SuiteError(f"{folder.parent}: no suite {folder.name!r}{remedy}")
        self.folder = folder
        self.project = folder.resolve().parent.parent
        self._names: tuple[str, ...] = ()
        self._noise = _Noise()
        make_importable(self.project)

    def look(self) -> Look:
        """How all files are now."""
        paths = [*_files_below(self.folder), *self._sources()]
        kept = (path for path in paths if self._counts(path))
        return {path: stamp for path in kept if (stamp := _stamp(path)) is not None}

    def wait(self, before: Look) -> Look:
        """Wait until files are otherwise than `before`; how they are then.

        Raises:
            KeyboardInterrupt: after Ctrl-C.
        """
        while (now := self.look()) == before:
            events = watch(
                *self._folders(),
                watch_filter=self._noise,
                step=SETTLED_MS,
                debounce=LONGEST_EDIT_MS,
                rust_timeout=LOOK_AGAIN_MS,
                yield_on_timeout=True,
                recursive=False,
            )
            next(events)
            events.close()
        return now

    def changed(self, before: Look, now: Look) -> list[str]:
        """The files that differ, as seen from the folder that the project lies in."""
        paths = sorted(path for path in {*before, *now} if before.get(path) != now.get(path))
        return [os.path.relpath(path, self.project) for path in paths]

    def is_recording(self, path: Path) -> bool:
        """Whether a live run writes it."""
        return (self.folder / "recordings") in path.parents

    def _counts(self, path: Path) -> bool:
        below = path.relative_to(self.folder) if path.is_relative_to(self.folder) else Path(path.name)
        return self._noise(Change.modified, str(below))

    def _folders(self) -> set[Path]:
        """What has to be watched for a change of any file, or a new one, to be seen."""
        found = {Path(folder) for folder, _, _ in os.walk(self.folder)}
        found |= {path.parent for path in self._sources()}
        present = {folder for folder in found if folder.is_dir()}
        return present or {next(folder for folder in self.folder.parents if folder.is_dir())}

    def _sources(self) -> Iterator[Path]:
        """Sources of the modules that the suite names, and where those would be that are not there."""
        self._names = _module_names(self.folder / SUITE_FILE) or self._names
        for name in self._names:
            found = find_files(name)
            yield from found or self._expected(name)

    def _expected(self, module: str) -> Iterator[Path]:
        path = Path(*module.split("."))
        for root in sys.path:
            if root and not root.endswith((*INSTALLED, ".zip")) and "lib/python" not in root:
                yield Path(root) / path.with_suffix(".py")
                yield Path(root) / path / "__init__.py"


def _module_names(suite_file: Path) -> tuple[str, ...]:
    """Modules that a suite names, as far as its file can be read; none where it cannot."""
    try:
        content = yaml.safe_load(suite_file.read_text(encoding="utf-8"))
    except (OSError, ValueError, yaml.YAMLError):
        return ()
    if not isinstance(content, dict):
        return ()
    system = content.get("system")
    if isinstance(system, Mapping):
        system = [system.get("module"), system.get("function")]
    modules = [text for text in _texts(system) if re.fullmatch(_MODULE, text)]
    modules += [found[1] for text in _texts([system, content.get("stages")]) if (found := _NAMED.match(text))]
    return tuple(dict.fromkeys(modules))


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        yield from (text for part in value.values() for text in _texts(part))
    elif isinstance(value, Sequence):
        yield from (text for part in value for text in _texts(part))


def _files_below(folder: Path) -> Iterator[Path]:
    for below, _, names in os.walk(folder):
        yield from (Path(below, name) for name in names)


def _stamp(path: Path) -> Stamp | None:
    try:
        found = path.stat()
    except OSError:  # not there, or gone just now
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino
