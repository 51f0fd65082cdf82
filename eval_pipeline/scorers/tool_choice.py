"""Whether the one tool was called that a case expects, or no tool where it expects none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from pydantic import BaseModel, ConfigDict

from eval_pipeline.cases import Case, Known
from eval_pipeline.scores import Score
from eval_pipeline.suggestions import did_you_mean
from eval_pipeline.traces import AgentTrace


@dataclass(frozen=True)
class ToolChoice:
    """1.0 when the expected tool is among those called, or, where none is expected, when none was called.

    Further calls of other tools are allowed beside an expected one; `tools:ToolCalls` is the scorer that
    forbids them. A call whose tool answered with an error counts as made.
    """

    version: ClassVar[int] = 1
    judged: ClassVar[bool] = False

    class Expected(BaseModel):
        """The tool a case expects; every case must say it, be it null."""

        model_config = ConfigDict(extra="forbid")

        tool: str | None
        """A tool's name; null expects that no tool is called."""

    def problems(self, case: Case, known: Known) -> list[str]:
        """An expected tool that the system does not declare; nothing if it declares no tools."""
        tool = case.expected.get("tool")
        if tool is None or not known.tools or tool in known.tools:
            return []
        return [f"expected.tool: no tool {tool!r}{did_you_mean(tool, sorted(known.tools))}"]

    def applies(self, case: Case) -> bool:
        """Whether the case says what it expects, be it no tool."""
        return "tool" in case.expected

    def score(self, case: Case, trace: AgentTrace) -> Score:
        """Score one trace, with `details` `called`: the names in the order called."""
        expected: str | None = case.expected["tool"]
        called = [call.name for call in trace.tool_calls]
        made = ", ".join(called) or "no tool"
        if expected is None:
            passed, reason = (
                not called,
                "no tool expected and none called"
                if not called
                else (f"no tool expected, and yet called: {made}"),
            )
        else:
            passed = expected in called
            reason = f"{expected} was called" if passed else f"{expected} expected, {made} called"
        return Score(float(passed), reason, details={"called": called})
