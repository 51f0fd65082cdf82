"""Outcome files of every kind a gate takes, told apart by what they hold."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from eval_pipeline.gating.json_files import load_json, show_value
from eval_pipeline.gating.outcome_lines import read_as_written
from eval_pipeline.gating.outcomes import Outcomes, OutcomesError
from eval_pipeline.gating.own_outcomes import read_own_outcomes
from eval_pipeline.gating.published import read_published
from eval_pipeline.gating.pytest_report import read_pytest_report
from eval_pipeline.yaml_files import read_text

_PYTEST_KEYS = frozenset({"created", "duration", "exitcode", "root", "environment", "summary", "collectors"})
_SHOWN_PROBLEMS = 20


def read_outcomes(path: Path) -> Outcomes:
    """Read one run's outcomes: our own file, a pytest-json-report report, or a stage report.

    Raises:
        OutcomesError: one problem a line, each with its file and place.
    """
    text = read_text(path, OutcomesError)
    outcomes = read_as_written(text)
    if outcomes is None:
        outcomes = _read_data(load_json(text, str(path), OutcomesError), str(path))
    _refuse_problems(str(path), outcomes)
    return outcomes


def _read_data(data: Any, place: str) -> Outcomes:
    if not isinstance(data, dict):
        raise OutcomesError(f"{place}: {show_value(data)} is no outcomes file; it holds `eval` and `tests`")
    if "rows" in data or "key" in data:
        return read_published(data, place)
    if "format" not in data and _PYTEST_KEYS & data.keys():
        return read_pytest_report(data, place)
    if "tests" in data:
        return read_own_outcomes(data, place)
    found = ", ".join(map(repr, list(data)[:8])) or "nothing"
    raise OutcomesError(
        f"{place}: found {found}, where an outcomes file holds `eval` and `tests`, "
        "and a stage report `key` and `rows`"
    )


def _refuse_problems(place: str, outcomes: Outcomes) -> None:
    """Refuse what would make a run ambiguous, whatever file it came from."""
    gating: dict[str, bool] = {}
    mixed = [t.nodeid for t in outcomes.tests if gating.setdefault(t.nodeid, t.gating) != t.gating]
    problems = [f"{place}: {nodeid!r} gates in one repeat and not in another" for nodeid in mixed]
    if len(gating) < len(outcomes.tests):
        counted = Counter((test.nodeid, test.repeat, test.judge_repeat) for test in outcomes.tests)
        twice = [(nodeid, repeat) for (nodeid, repeat, _), times in counted.items() if times > 1]
        problems += [
            f"{place}: {nodeid!r} repeat {repeat} stands twice; keep one" for nodeid, repeat in twice
        ]
    if problems:
        raise OutcomesError(problems[:_SHOWN_PROBLEMS])
