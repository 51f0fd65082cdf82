"""Tool calls in code: every expected call made, as often as expected, and no other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from pydantic import BaseModel, ConfigDict

from eval_pipeline.cases import Case, Known
from eval_pipeline.scores import Score
from eval_pipeline.traces import AgentTrace
from eval_pipeline.yaml_files import did_you_mean


@dataclass(frozen=True)
class ToolCalls:
    """The calls a trace made against the calls its case expects, compared as multisets of names.

    The value is the share of expected calls made, or, where none is expected, 1.0 without a call and 0.0
    with one. One unexpected call fails the check whatever the value. Order and arguments do not count. A
    call whose tool answered with an error counts as made: the agent chose it, and that is what is checked.
    """

    version: ClassVar[int] = 1
    judged: ClassVar[bool] = False

    class Expected(BaseModel):
        """The tools a case expects: `[]` expects no call, and left out the check does not apply."""

        model_config = ConfigDict(extra="forbid")

        tools: list[str] | None = None
        """Tool names; a name that stands twice is expected twice."""

    def problems(self, case: Case, known: Known) -> list[str]:
        """Expected tools that the system does not have."""
        return unknown_tools(case, known)

    def applies(self, case: Case) -> bool:
        """Whether the case says which tools it expects, be it none."""
        return case.expected.get("tools") is not None

    def score(self, case: Case, trace: AgentTrace) -> Score:
        """Score one trace.

        Returns:
            The score, with `details` `unexpected` and `missing`: sorted names, one entry a call.
        """
        expected = Counter(case.expected["tools"])
        called = Counter(call.name for call in trace.tool_calls)
        missing = sorted((expected - called).elements())
        unexpected = sorted((called - expected).elements())
        value = 1 - len(missing) / expected.total() if expected else float(not called)
        return Score(
            value=value,
            reason=_reason(expected, missing, unexpected),
            passed=False if unexpected else None,
            details={"unexpected": unexpected, "missing": missing},
        )


def unknown_tools(case: Case, known: Known) -> list[str]:
    """One problem for each expected tool that the system does not declare; none if it declares no tools."""
    if not known.tools:
        return []
    names = sorted(set(case.expected.get("tools") or ()) - known.tools)
    return [f"expected.tools: no tool {name!r}{did_you_mean(name, sorted(known.tools))}" for name in names]


def _reason(expected: Counter[str], missing: Sequence[str], unexpected: Sequence[str]) -> str:
    parts = []
    if missing:
        made = expected.total() - len(missing)
        parts.append(f"{made} of {expected.total()} expected calls made; missing: {', '.join(missing)}")
    if unexpected:
        parts.append(f"unexpected: {', '.join(unexpected)}")
    if parts:
        return "; ".join(parts)
    if not expected:
        return "no call expected and none made"
    return f"all expected calls made and no other: {', '.join(sorted(expected.elements()))}"
