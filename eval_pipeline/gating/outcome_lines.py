"""Our own outcomes file in the layout it is written in, read by lines and several times faster than as JSON.

A hundred thousand lines are few cases and few kinds of outcome many times over, so each of these is read and
validated as JSON once. Another layout, or whatever is not in order, is left to the JSON reader, which names
the place.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from eval_pipeline.errors import InputError
from eval_pipeline.gating.json_files import load_json
from eval_pipeline.gating.outcomes import CheckOutcome, EvalBlock, Outcomes, OutcomesError
from eval_pipeline.gating.own_outcomes import read_own_outcomes, read_tests

_BEGIN = '\n  "tests": [\n    {"nodeid": "'
_BETWEEN = '},\n    {"nodeid": "'
_END = "}\n  ]\n}\n"
_AS_IT_IS = re.compile(r'[^"\\\x00-\x1f]*')
"""Text that a JSON string holds just so."""


def read_as_written(text: str) -> Outcomes | None:
    """The outcomes in a file's text; None where it is not just as `outcomes_text` writes it."""
    head, _, lines = text.partition(_BEGIN)
    if not lines.endswith(_END):
        return None
    try:
        empty = read_own_outcomes(_load(f'{head}\n  "tests": []\n}}'), "")
        tests = _read_lines(lines.removesuffix(_END).split(_BETWEEN), empty.eval)
    except InputError:
        return None
    return replace(empty, tests=tests)


def _read_lines(lines: list[str], block: EvalBlock) -> tuple[CheckOutcome, ...]:
    """The tests from their lines, each from its node id on and without the closing bracket.

    A line is parted before the name of its check: `docs::backup` and `tools", "repeat": 0, …`.
    """
    tests = []
    owners: dict[str, tuple[str, str]] = {}
    kinds: dict[str, CheckOutcome] = {}
    for line in lines:
        written, _, rest = line.rpartition("::")
        if rest not in kinds:
            kinds[rest] = _read_kind(rest)
        if written not in owners:
            owners[written] = _read_owner(written, block)
        owner, case = owners[written]
        kind = kinds[rest]
        tests.append(CheckOutcome(f"{owner}::{kind.check}", case, *kind[2:]))
    return tuple(tests)


def _read_owner(written: str, block: EvalBlock) -> tuple[str, str]:
    """A node id without its check, and the case in it."""
    owner = written if _AS_IT_IS.fullmatch(written) else _load(f'"{written}"')
    suite, _, case = owner.partition("::")
    if not suite or not case or "::" in case or (block.suite is not None and suite != block.suite):
        raise OutcomesError(f"{owner!r} is not suite::case")
    return owner, case


def _read_kind(rest: str) -> CheckOutcome:
    """The outcome in the rest of a line, as if its case were another."""
    block = EvalBlock(dataset="any", cases_sha="any")
    (kind,) = read_tests(_load(f'[{{"nodeid": "suite::case::{rest}}}]'), block, "")
    if kind.case != "case":
        raise OutcomesError(f"{kind.nodeid!r} has no check of a case")
    return kind


def _load(text: str) -> Any:
    return load_json(text, "", OutcomesError)
