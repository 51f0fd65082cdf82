"""The judge as DeepEval sees it: one strict `DeepEvalBaseLLM` over our recorded calls."""

from __future__ import annotations

import functools
from typing import Any

from eval_pipeline.errors import EvalError, ScorerError
from eval_pipeline.judges import JudgeCalls
from eval_pipeline.scorers.deepeval.importing import import_deepeval
from eval_pipeline.scorers.deepeval.templates import RenderedPrompt
from eval_pipeline.scorers.judge_replies import ask_strictly


def judge_model(judge: JudgeCalls, metric: str) -> Any:
    """The model to give to a metric; `metric` names it in errors."""
    return _judge_model_class()(judge, metric)


@functools.cache
def _judge_model_class() -> type[Any]:
    base: Any = import_deepeval().models.DeepEvalBaseLLM

    class JudgeModel(base):  # type: ignore[misc]
        """Every reply is of the schema that was asked for, or a `ScorerError` of the judge."""

        def __init__(self, judge: JudgeCalls, metric: str) -> None:
            self.judge = judge
            self.metric = metric
            super().__init__(judge.judge.model.name)

        def load_model(self, *_: Any, **__: Any) -> Any:
            return self

        def get_model_name(self, *_: Any, **__: Any) -> str:
            return self.judge.judge.model.name

        async def a_generate(self, prompt: Any, schema: Any = None, **_: Any) -> Any:
            return await _ask(self.judge, self.metric, prompt, schema)

        async def a_generate_with_schema(self, prompt: Any, schema: Any = None, **_: Any) -> Any:
            # DeepEval's own would swallow a TypeError and ask again without the schema.
            return await _ask(self.judge, self.metric, prompt, schema)

        def generate(self, *_: Any, **__: Any) -> Any:
            raise ScorerError(self.metric, "DeepEval asked outside the event loop; use a_measure")

    return JudgeModel


async def _ask(judge: JudgeCalls, metric: str, prompt: Any, schema: Any) -> Any:
    if not isinstance(prompt, RenderedPrompt) or schema is None:
        raise ScorerError(metric, "DeepEval asks what none of its templates says; pin the version it had")
    try:
        return await ask_strictly(judge, prompt.prompt, schema, prompt.items)
    except EvalError:
        raise
    except Exception as failure:  # DeepEval takes some of these, such as a TypeError, as a hint to ask again
        raise ScorerError(metric, f"{type(failure).__name__}: {failure}") from failure
