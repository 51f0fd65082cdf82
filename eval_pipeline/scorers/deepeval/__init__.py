"""DeepEval's metrics as scorers: the one package that imports DeepEval, and only when something is scored.

`templates` renders its prompts, `judge_model` asks the judge with them, and every reply is read strictly;
`measuring` runs a metric with the guards that DeepEval itself lacks.
"""

from eval_pipeline.scorers.deepeval.answer_relevancy import AnswerRelevancy
from eval_pipeline.scorers.deepeval.contextual_precision import ContextualPrecision
from eval_pipeline.scorers.deepeval.contextual_recall import ContextualRecall
from eval_pipeline.scorers.deepeval.faithfulness import Faithfulness
from eval_pipeline.scorers.deepeval.g_eval import GEval
from eval_pipeline.scorers.deepeval.tool_correctness import ToolCorrectness

__all__ = [
    "AnswerRelevancy",
    "ContextualPrecision",
    "ContextualRecall",
    "Faithfulness",
    "GEval",
    "ToolCorrectness",
]
