"""Whether the expected tool was called with the expected argument."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from pydantic import ConfigDict

from eval_pipeline.cases import Case, Known
from eval_pipeline.scorers.tool_choice import ToolChoice
from eval_pipeline.scores import Score
from eval_pipeline.traces import AgentTrace


@dataclass(frozen=True)
class ToolArgument:
    """1.0 when one and the same call is of the expected tool and has the expected argument.

    The right tool with another argument does not count, nor does the argument given to another tool. The
    argument is compared as text with each value that the call was made with.
    """

    version: ClassVar[int] = 1
    judged: ClassVar[bool] = False

    class Expected(ToolChoice.Expected):
        """The tool a case expects, and the argument."""

        model_config = ConfigDict(extra="forbid")

        argument: str | None = None
        """As the trace holds it; null, or left out, leaves the argument unchecked."""

    def problems(self, case: Case, known: Known) -> list[str]:
        """An argument without a tool that would take it."""
        if case.expected.get("argument") is None or case.expected.get("tool") is not None:
            return []
        return ["expected.argument: there is no expected tool to take it; name the tool, or remove it"]

    def applies(self, case: Case) -> bool:
        """Whether the case expects a tool and an argument of it."""
        return None not in (case.expected.get("tool"), case.expected.get("argument"))

    def score(self, case: Case, trace: AgentTrace) -> Score:
        """Score one trace, with `details` `arguments`: those of each call of the expected tool."""
        tool, argument = case.expected["tool"], case.expected["argument"]
        given = [dict(call.arguments) for call in trace.tool_calls if call.name == tool]
        passed = any(argument in map(str, arguments.values()) for arguments in given)
        if passed:
            reason = f"{tool} was called with {argument}"
        elif given:
            reason = f"{tool} was not called with {argument}, but with other arguments"
        else:
            reason = f"{tool} was not called, so not with {argument} either"
        return Score(float(passed), reason, details={"arguments": given})
