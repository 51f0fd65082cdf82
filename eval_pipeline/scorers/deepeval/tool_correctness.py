"""DeepEval's own ToolCorrectness, beside `tools`; no model is asked."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from eval_pipeline.cases import Case, Known
from eval_pipeline.errors import ScorerError
from eval_pipeline.scorers.deepeval.importing import import_deepeval
from eval_pipeline.scorers.tools import ToolCalls, unknown_tools
from eval_pipeline.scores import Score
from eval_pipeline.traces import AgentTrace


@dataclass(frozen=True)
class ToolCorrectness:
    """DeepEval's `ToolCorrectnessMetric` with its default settings: expected tools among those called.

    No model is asked. `docs/decisions/tool-correctness.md` says where it differs from `ToolCalls`.
    """

    version: ClassVar[int] = 1
    judged: ClassVar[bool] = False

    Expected = ToolCalls.Expected

    def problems(self, case: Case, known: Known) -> list[str]:
        """Expected tools that the system does not have."""
        return unknown_tools(case, known)

    def applies(self, case: Case) -> bool:
        """Whether the case says which tools it expects, be it none."""
        return case.expected.get("tools") is not None

    def score(self, case: Case, trace: AgentTrace) -> Score:
        """Score one trace.

        Raises:
            ScorerError: when DeepEval raises, or gives no number from 0 to 1.
        """
        expected = list(case.expected["tools"])
        try:
            value = _measure(case.question, expected, trace)
        except Exception as failure:  # whatever DeepEval raises, the check is unmeasured
            raise ScorerError(
                "ToolCorrectness", f"DeepEval could not measure it: {type(failure).__name__}: {failure}"
            ) from failure
        # DeepEval's own reason lists a set in no fixed order.
        called = [call.name for call in trace.tool_calls]
        return Score(value, f"DeepEval compared expected {_listed(expected)} with called {_listed(called)}")


def _measure(question: str, expected: Sequence[str], trace: AgentTrace) -> Any:
    deepeval = _load()
    # A metric keeps what it measured, so each measurement gets its own; not async, so that it needs no loop.
    metric = deepeval.metric(model=deepeval.unasked, async_mode=False)
    test_case = deepeval.test_case(
        input=question,
        actual_output=trace.answer or "",
        tools_called=[
            deepeval.tool_call(name=call.name, input_parameters=dict(call.arguments), output=call.output)
            for call in trace.tool_calls
        ],
        expected_tools=[deepeval.tool_call(name=name) for name in expected],
    )
    metric.measure(test_case, _show_indicator=False)
    return metric.score  # in async mode `measure` returns None


@dataclass(frozen=True)
class _DeepEval:
    """What this module uses of DeepEval."""

    metric: Any
    test_case: Any
    tool_call: Any
    unasked: Any


@functools.cache
def _load() -> _DeepEval:
    module = import_deepeval()
    base: Any = module.models.DeepEvalBaseLLM

    class Unasked(base):  # type: ignore[misc]
        """The model that the metric must be given and, without `available_tools`, never asks."""

        def load_model(self, *_: Any, **__: Any) -> Any:
            return self

        def get_model_name(self, *_: Any, **__: Any) -> str:
            return "none"

        def generate(self, *_: Any, **__: Any) -> Any:
            raise ScorerError("ToolCorrectness", "DeepEval asked a model, which this check never does")

        async def a_generate(self, *_: Any, **__: Any) -> Any:
            raise ScorerError("ToolCorrectness", "DeepEval asked a model, which this check never does")

    return _DeepEval(
        metric=module.metrics.ToolCorrectnessMetric,
        test_case=module.test_case.LLMTestCase,
        tool_call=module.test_case.ToolCall,
        unasked=Unasked(),
    )


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names) or "none"
