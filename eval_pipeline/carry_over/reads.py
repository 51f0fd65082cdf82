"""What a system reads of its dataset: all of the documents, or single records of a fixture.

A record that a run looks up by its key counts for that run alone. What is read while the system is built,
and whatever is gone through as a whole, counts for every run: it may be kept for all of them.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from eval_pipeline.content_hash import content_hash
from eval_pipeline.documents import Document
from eval_pipeline.recordings import current_scope
from eval_pipeline.system_spec import SystemContext

RunKey = tuple[str, int]

DOCUMENTS = "documents"
FIXTURES = "fixtures"
_ABSENT = "absent"


class Reads:
    """Notes what is read; give `watch` a context before a system is built from it."""

    def __init__(self) -> None:
        self.shared: set[str] = set()
        """Names of what counts for every run."""
        self._own: dict[RunKey, set[str]] = defaultdict(set)

    def of(self, run: RunKey) -> frozenset[str]:
        """Names of all that a run rests on."""
        return frozenset(self.shared | self._own.get(run, set()))

    def note(self, name: str, *, whole: bool = False) -> None:
        """Note that something was read; `whole` counts for every run, whoever read it."""
        run = None if whole else _current_run()
        (self.shared if run is None else self._own[run]).add(name)

    def watch(self, context: SystemContext) -> SystemContext:
        """The same context, telling of what is read of it."""
        watched = WatchedContext(
            prompt=context.prompt,
            parameters=context.parameters,
            documents=context.documents,
            fixtures=WatchedFixtures(context.fixtures, self),
            models=context.models,
        )
        object.__setattr__(watched, "_reads", self)
        return watched


class WatchedContext(SystemContext):
    """A context whose documents, once touched, count as read by every run."""

    def __getattribute__(self, name: str) -> Any:
        """As ever, noting it."""
        if name == "documents":
            reads: Reads | None = vars(self).get("_reads")
            if reads is not None:
                reads.note(DOCUMENTS, whole=True)
        return super().__getattribute__(name)


class WatchedFixtures(Mapping[str, Any]):
    """The fixtures of a dataset, by name."""

    def __init__(self, content: Mapping[str, Any], reads: Reads) -> None:
        self._content = content
        self._reads = reads

    def __getitem__(self, name: str) -> Any:
        """A table that tells of its own reads, or any other content, which then is read."""
        found = self._content.get(name)
        if isinstance(found, dict):
            self._reads.note(_table(name))
            return WatchedTable(name, found, self._reads)
        self._reads.note(_record(name))
        return self._content[name]

    def __iter__(self) -> Iterator[str]:
        """Names, which reads all of it."""
        self._reads.note(FIXTURES, whole=True)
        return iter(self._content)

    def __len__(self) -> int:
        """Their number, which reads all of it."""
        self._reads.note(FIXTURES, whole=True)
        return len(self._content)

    def __reduce__(self) -> Any:
        """A copy is a plain dict, and reads all of it."""
        self._reads.note(FIXTURES, whole=True)
        return dict, (dict(self._content),)


class WatchedTable(Mapping[str, Any]):
    """A fixture that is a mapping: a record looked up by its key reads that one alone."""

    def __init__(self, name: str, content: Mapping[str, Any], reads: Reads) -> None:
        self._name = name
        self._content = content
        self._reads = reads

    def __getitem__(self, key: str) -> Any:
        """The record, as plain data."""
        if isinstance(key, str):
            self._reads.note(_record(self._name, key))
        else:
            self._read_all()
        return self._content[key]

    def __iter__(self) -> Iterator[str]:
        """Keys, which reads all of it."""
        self._read_all()
        return iter(self._content)

    def __len__(self) -> int:
        """Their number, which reads all of it."""
        self._read_all()
        return len(self._content)

    def __reduce__(self) -> Any:
        """A copy is a plain dict, and reads all of it."""
        self._read_all()
        return dict, (dict(self._content),)

    def _read_all(self) -> None:
        self._reads.note(_record(self._name), whole=True)


class ReadContent:
    """What the names of `Reads` stand for in one dataset, as hashes."""

    def __init__(self, documents: tuple[Document, ...], fixtures: Mapping[str, Any]) -> None:
        self._documents = documents
        self._fixtures = fixtures
        self._known: dict[str, str] = {}

    def sha(self, name: str) -> str:
        """16 digits over what a name stands for now; of nothing, `absent`."""
        if name not in self._known:
            self._known[name] = self._sha(name)
        return self._known[name]

    def _sha(self, name: str) -> str:
        if name == DOCUMENTS:
            # In their order: who goes through them may say something else in another one.
            return content_hash([[page.id, page.text] for page in self._documents])[:16]
        if name == FIXTURES:
            return content_hash(_in_order(self._fixtures))[:16]
        kind, _, path = name.partition(" ")
        found: Any = self._fixtures
        for key in json.loads(path):
            if not isinstance(found, Mapping) or key not in found:
                return _ABSENT
            found = found[key]
        if kind == "table":
            return "yes" if isinstance(found, dict) else "no"
        return content_hash(_in_order(found))[:16]


def _in_order(value: Any) -> Any:
    """`value` with the order of its keys told, which a content hash leaves out and a program may show."""
    if isinstance(value, Mapping):
        return {"keys": [[key, _in_order(item)] for key, item in value.items()]}
    return [_in_order(item) for item in value] if isinstance(value, list) else value


def _record(*path: str) -> str:
    return f"fixture {json.dumps(path)}"


def _table(name: str) -> str:
    return f"table {json.dumps([name])}"


def _current_run() -> RunKey | None:
    try:
        asker = current_scope()
    except RuntimeError:
        return None
    return (asker.case_id, asker.repeat) if asker.role == "agent" and not asker.label else None
