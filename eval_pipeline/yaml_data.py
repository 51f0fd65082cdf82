"""YAML made into plain data: every value keeps its place, and none becomes what its writer did not mean."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from eval_pipeline.errors import InputError
from eval_pipeline.yaml_scalars import TAG, TEXT, read_scalar, tag_problem

Place = tuple[str | int, ...]

MAX_DEPTH = 100
"""Levels of nesting; what reads the data later recurses too."""
MAX_REPEATED = 100_000
"""Values that the aliases of one file may stand for."""


@dataclass(frozen=True)
class YamlFile:
    """One file's plain data, with the line and the written text of every value in it."""

    path: Path
    data: Any
    lines: Mapping[Place, int]
    """Line of each value (of its key, in a mapping), by its place in `data`."""
    written: Mapping[Place, str]
    """Each scalar that is not text as it stands in the file."""

    def where(self, place: Place) -> str:
        """`file:line` of the nearest known place."""
        while place and place not in self.lines:
            place = place[:-1]
        return f"{self.path}:{self.lines.get(place, 1)}"

    def at(self, place: Place) -> Any:
        """The value at a place; one that is left out is an empty mapping."""
        value = self.data
        for step in place:
            value = value.get(step, {}) if isinstance(value, Mapping) else value[step]
        return value


def build_data(path: Path, root: yaml.Node | None, error: type[InputError], *, exact: bool) -> YamlFile:
    """The plain data of a composed file; `exact` refuses decimals that lose a digit, such as 2.10.

    Raises:
        InputError: of the given type, one problem a line.
    """
    builder = _Builder(path, error, exact)
    data = None if root is None else builder.build(root, ())
    if builder.problems:
        raise error(list(builder.problems))
    return YamlFile(path, data, builder.lines, builder.written)


class _Builder:
    """Turns YAML nodes into plain data, noting lines, and collecting what JSON could not hold."""

    def __init__(self, path: Path, error: type[InputError], exact: bool) -> None:
        self.path = path
        self.error = error
        self.exact = exact
        self.lines: dict[Place, int] = {}
        self.written: dict[Place, str] = {}
        self.problems: dict[str, None] = {}
        self.open_nodes: set[int] = set()
        self.seen: set[int] = set()
        self.repeated = 0

    def build(self, node: yaml.Node, place: Place) -> Any:
        self.count(node)
        self.lines.setdefault(place, node.start_mark.line + 1)
        if isinstance(node, yaml.ScalarNode):
            return self.scalar(node, place)
        if self.refuse_cycle(node):
            return None
        kind = "seq" if isinstance(node, yaml.SequenceNode) else "map"
        if node.tag != TAG + kind:
            self.refuse(node, tag_problem(node.tag))
            return None
        if len(place) >= MAX_DEPTH:
            self.refuse(node, f"nested more than {MAX_DEPTH} levels deep; make it flatter")
            return None
        self.open_nodes.add(id(node))
        if isinstance(node, yaml.SequenceNode):
            built: Any = [self.build(item, (*place, i)) for i, item in enumerate(node.value)]
        else:
            built = self.mapping(node, place)
        self.open_nodes.discard(id(node))
        return built

    def mapping(self, node: yaml.Node, place: Place) -> dict[str, Any]:
        built: dict[str, Any] = {}
        for key, (key_node, value_node) in self.entries(node).items():
            self.lines[(*place, key)] = key_node.start_mark.line + 1
            built[key] = self.build(value_node, (*place, key))
        return built

    def entries(self, node: yaml.Node) -> dict[str, tuple[yaml.Node, yaml.Node]]:
        """Key and value nodes by key: what `<<` merges in, overruled by what stands in the mapping itself."""
        own: dict[str, tuple[yaml.Node, yaml.Node]] = {}
        merged: dict[str, tuple[yaml.Node, yaml.Node]] = {}
        merge: yaml.Node | None = None
        for key_node, value_node in node.value:
            if key_node.tag == TAG + "merge":
                if merge is not None:
                    self.refuse(key_node, "key '<<' stands twice in one mapping; keep one")
                merge = value_node
                continue
            if not isinstance(key_node, yaml.ScalarNode):
                self.refuse(key_node, "a key is a list or a mapping; a key is text")
            elif key_node.tag != TEXT:
                self.refuse(key_node, f"key `{key_node.value}` is not text to YAML; put it in quotes")
            elif key_node.value in own:
                self.refuse(key_node, f"key {key_node.value!r} stands twice in one mapping; keep one")
            else:
                own[key_node.value] = (key_node, value_node)
        for part in [] if merge is None else self.merge_parts(merge):
            for key, nodes in part.items():
                merged.setdefault(key, nodes)
        return {**merged, **own}

    def merge_parts(self, node: yaml.Node) -> list[dict[str, tuple[yaml.Node, yaml.Node]]]:
        """The entries of each mapping that a `<<` names; the first one wins."""
        parts = node.value if isinstance(node, yaml.SequenceNode) else [node]
        found = []
        for part in parts:
            self.count(part)
            if not isinstance(part, yaml.MappingNode):
                self.refuse(node, "`<<` takes a mapping or a list of them, such as `<<: *name`")
            elif not self.refuse_cycle(part):
                self.open_nodes.add(id(part))
                found.append(self.entries(part))
                self.open_nodes.discard(id(part))
        return found

    def count(self, node: yaml.Node) -> None:
        """Bound what aliases stand for: ten lines of them can mean a billion values.

        Raises:
            InputError: when there are too many.
        """
        if id(node) not in self.seen:
            self.seen.add(id(node))
            return
        self.repeated += 1
        if self.repeated > MAX_REPEATED:
            raise self.error(
                f"{self.path}:{node.start_mark.line + 1}: the aliases of this file stand for more than "
                f"{MAX_REPEATED} values; write them out, or use fewer"
            )

    def refuse_cycle(self, node: yaml.Node) -> bool:
        if id(node) in self.open_nodes:
            self.refuse(node, "an anchor that contains itself; write the value out")
            return True
        return False

    def scalar(self, node: yaml.ScalarNode, place: Place) -> Any:
        if node.tag != TEXT:
            self.written[place] = node.value
        value, problem = read_scalar(node, exact=self.exact)
        if problem is not None:
            self.refuse(node, problem)
        return value

    def refuse(self, node: yaml.Node, problem: str) -> None:
        self.problems[f"{self.path}:{node.start_mark.line + 1}: {problem}"] = None
