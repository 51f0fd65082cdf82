"""Two candidates that differ in nothing but their judge: the same traces, judged twice."""

from __future__ import annotations

import pytest

from eval_pipeline.comparing.comparison import compare
from eval_pipeline.comparing.stored_sides import read_side
from eval_pipeline.evaluation import Evaluation
from eval_pipeline.report.comparison_blocks import comparison_blocks
from eval_pipeline.report.comparison_text import blocks_text
from eval_pipeline_tests.comparing.sides import store_all
from eval_pipeline_tests.judged_suite import JudgedSuite
from eval_pipeline_tests.scripted_judge import JudgedConnector, Question, reply

SECOND = """\
  second-opinion:
    model: openai:scripted
    embedder: openai:scripted-embedder
    prompt: v1
    judge: {name: "openai:judge-two", settings: {temperature: 0.4, seed: 7}}
"""


class Connector(JudgedConnector):
    """The second judge finds nothing relevant, the first everything."""

    def chat(self, settings):
        def answer(question: Question) -> str:
            word = "no" if settings.name == "openai:judge-two" else "yes"
            return reply(question, [word] * (question.items or 0))

        self.judge = answer
        return super().chat(settings)


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    folder = tmp_path_factory.mktemp("judges")
    made = JudgedSuite(folder)
    made.edit("suite.yaml", "\nstages:\n", f"{SECOND}\nstages:\n")
    connector = Connector()
    evaluation = Evaluation(
        "run", made.data_root, str(folder / "warehouse"), mode="new_episodes", connector=connector
    )
    store_all(evaluation, "docs")
    return evaluation, connector


def compared(evaluation):
    suite = evaluation.suite("docs")
    first, second = (read_side(evaluation.warehouse, suite, cell) for cell in suite.cells)
    return compare(first, second)


def test_the_second_candidate_costs_no_call_of_the_agent(stored):
    evaluation, connector = stored
    suite = evaluation.suite("docs")
    used = [evaluation.read_traces(cell) for cell in suite.cells]
    assert len(connector.chats) > 0
    assert sum(trace.usage.called for trace in used[0]) >= len(connector.chats)
    assert sum(trace.usage.called for trace in used[1]) == 0


def test_each_has_its_own_key_and_its_own_verdicts(stored):
    comparison = compared(stored[0])
    assert comparison.before.candidate != comparison.after.candidate
    assert comparison.before.candidate.partition("@")[2] == comparison.after.candidate.partition("@")[2]
    assert comparison.same_traces
    assert [change.name for change in comparison.changes][:1] == ["judge"]


def test_their_agreement_is_shown_for_each_judged_stage(stored):
    comparison = compared(stored[0])
    assert [stage.stage for stage in comparison.judges] == [
        "contextual_precision",
        "faithfulness",
        "contextual_recall",
        "answer_relevancy",
    ]
    relevancy = comparison.judges[-1]
    # All ten answers relevant to the one, none to the other.
    assert (relevancy.both, relevancy.agree, relevancy.passed) == (10, 0, (10, 0))
    assert relevancy.kappa is None
    shown = blocks_text(comparison_blocks(comparison))
    assert "two judges on the same traces: openai:judge@" in shown
    assert "undefined: one judge gives every run the same verdict" in shown
    assert "the judge differs, and so may" not in shown
