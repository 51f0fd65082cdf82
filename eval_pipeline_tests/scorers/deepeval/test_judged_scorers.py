"""DeepEval's judged metrics: what they score, what they ask, and what of it is kept."""

from __future__ import annotations

import asyncio

import pytest

from eval_pipeline.cases import Case, Known
from eval_pipeline.errors import ScorerError
from eval_pipeline.scorers.deepeval import (
    AnswerRelevancy,
    ContextualPrecision,
    ContextualRecall,
    Faithfulness,
    GEval,
)
from eval_pipeline.traces import AgentTrace
from eval_pipeline_tests.scripted_judge import JudgedConnector, Question, approve, judging, reply, saying

CASE = Case("c", "Where are tasks kept?", "In SQLite. One file a list.", {"tools": ["search_docs"]})
TRACE = AgentTrace("c", answer="In one file.", context=("Tasks are in one SQLite file.", "Sync locks."))
GRADE = GEval(steps=("Check the answer.",), sees=("question", "answer", "reference", "context"))
ALL = [Faithfulness(), ContextualRecall(), AnswerRelevancy(), ContextualPrecision(), GRADE]


def score(scorer, folder, connector=None, case=CASE, trace=TRACE, mode="new_episodes"):
    with judging(folder, connector, mode) as judge:
        return asyncio.run(scorer.score(case, trace, judge))


def verdicts(*words):
    return saying(Verdicts=lambda question: reply(question, list(words)))


def three_claims(question: Question) -> str:
    return '{"claims": ["One.", "Two.", "Three."]}'


@pytest.mark.parametrize(
    ("strict", "value"),
    # Of the verdicts yes, no, borderline: 1 of 3 where the ambiguous one counts against, else 2 of 3.
    [(True, 1 / 3), (False, 2 / 3)],
)
def test_faithfulness_is_the_share_of_claims_that_agree(tmp_path, strict, value):
    answers = saying(Claims=three_claims, Verdicts=lambda q: reply(q, ["yes", "no", "borderline"]))
    scored = score(Faithfulness(strict=strict), tmp_path, JudgedConnector(answers))
    assert scored.value == pytest.approx(value)
    assert scored.reason.startswith("about ")
    assert [step["claim"] for step in scored.details["claims"]] == ["One.", "Two.", "Three."]
    assert [step["verdict"] for step in scored.details["claims"]] == ["yes", "no", "borderline"]
    assert scored.details["truths"] == ["about Sync locks."]


def test_plain_and_strict_faithfulness_share_the_calls_that_are_equal(tmp_path):
    score(Faithfulness(strict=True), tmp_path)
    again = JudgedConnector()
    score(Faithfulness(strict=False), tmp_path, again)
    assert again.judged == []


def test_recall_is_the_share_of_the_references_sentences(tmp_path):
    scored = score(ContextualRecall(), tmp_path, JudgedConnector(verdicts("yes", "no")))
    assert scored.value == 0.5
    assert [step["sentence"] for step in scored.details["sentences"]] == ["In SQLite.", "One file a list."]


@pytest.mark.parametrize(
    ("words", "value"),
    [
        (("yes", "no"), 1.0),  # precision at the one useful rank: 1/1
        (("no", "yes"), 0.5),  # 1/2
        (("yes", "yes"), 1.0),  # (1/1 + 2/2) / 2
        (("no", "no"), 0.0),
    ],
)
def test_precision_rewards_useful_texts_ranked_first(tmp_path, words, value):
    assert score(ContextualPrecision(), tmp_path, JudgedConnector(verdicts(*words))).value == value


def test_relevancy_counts_what_is_ambiguous_as_relevant(tmp_path):
    answers = saying(
        Statements='{"statements": ["One.", "Two."]}', Verdicts=lambda q: reply(q, ["borderline", "no"])
    )
    assert score(AnswerRelevancy(), tmp_path, JudgedConnector(answers)).value == 0.5


@pytest.mark.parametrize(("said", "value"), [(0, 0.0), (7, 0.7), (10, 1.0)])
def test_g_eval_is_a_share_of_ten(tmp_path, said, value):
    answers = saying(ReasonScore=lambda question: reply(question, [], said))
    assert score(GRADE, tmp_path, JudgedConnector(answers)).value == value


@pytest.mark.parametrize("said", [11, -3, 10.001])
def test_g_eval_refuses_a_score_out_of_range_and_does_not_cut_it(tmp_path, said):
    answers = saying(ReasonScore=lambda question: reply(question, [], said))
    with pytest.raises(ScorerError, match="not from 0 to 1") as refusal:
        score(GRADE, tmp_path, JudgedConnector(answers))
    assert refusal.value.source == "judge"


@pytest.mark.parametrize(
    ("scorer", "kinds"),
    [
        (Faithfulness(), ["Truths", "Claims", "Verdicts", "FaithfulnessScoreReason"]),
        (ContextualRecall(), ["Verdicts", "ContextualRecallScoreReason"]),
        (AnswerRelevancy(), ["Statements", "Verdicts", "AnswerRelevancyScoreReason"]),
        (ContextualPrecision(), ["Verdicts", "ContextualPrecisionScoreReason"]),
        (GRADE, ["ReasonScore"]),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, list) else "",
)
def test_the_judge_is_asked_just_what_the_metric_needs(tmp_path, scorer, kinds):
    connector = JudgedConnector()
    score(scorer, tmp_path, connector)
    assert connector.kinds == kinds


@pytest.mark.parametrize("scorer", ALL, ids=lambda scorer: type(scorer).__name__)
def test_replay_gives_the_same_score_without_a_client(tmp_path, scorer):
    live = score(scorer, tmp_path)
    connector = JudgedConnector()
    assert score(scorer, tmp_path, connector, mode="none") == live
    assert (connector.made, connector.judged) == (0, [])


@pytest.mark.parametrize("scorer", [Faithfulness(), AnswerRelevancy(), GRADE])
@pytest.mark.parametrize("answer", [None, "", " \n"])
def test_a_blank_answer_is_the_systems_error_and_never_sent(tmp_path, scorer, answer):
    connector = JudgedConnector()
    with pytest.raises(ScorerError, match="the answer is blank") as refusal:
        score(scorer, tmp_path, connector, trace=AgentTrace("c", answer=answer, context=TRACE.context))
    assert (refusal.value.source, connector.judged) == ("system", [])


@pytest.mark.parametrize("scorer", [Faithfulness(), ContextualRecall(), ContextualPrecision(), GRADE])
@pytest.mark.parametrize("context", [(), ("", " ")])
def test_without_a_context_the_check_fails_and_says_so_and_nothing_is_sent(tmp_path, scorer, context):
    connector = JudgedConnector()
    scored = score(scorer, tmp_path, connector, trace=AgentTrace("c", answer="In one file.", context=context))
    assert (scored.value, scored.passed, connector.judged) == (0.0, False, [])
    assert "fetched nothing" in scored.reason


def test_a_metric_keeps_nothing_from_one_measurement_to_the_next(tmp_path):
    first = score(AnswerRelevancy(), tmp_path, trace=AgentTrace("c", answer="About mark-1."))
    second = score(AnswerRelevancy(), tmp_path, trace=AgentTrace("c", answer="About mark-2."))
    assert [s["statement"] for s in first.details["statements"]] == ["about mark-1"]
    assert [s["statement"] for s in second.details["statements"]] == ["about mark-2"]


@pytest.mark.parametrize(
    ("scorer", "tools", "applies"),
    [
        (Faithfulness(), ["search_docs"], True),
        (Faithfulness(), [], False),
        (ContextualRecall(), None, False),
        (ContextualPrecision(), ["search_docs"], True),
        (AnswerRelevancy(), [], True),
        (AnswerRelevancy(), None, True),
        (GEval(steps=("Look.",)), [], True),
        (GRADE, [], False),
    ],
)
def test_context_metrics_apply_where_a_tool_is_expected(scorer, tools, applies):
    assert scorer.applies(Case("c", "q", expected={"tools": tools})) is applies


@pytest.mark.parametrize("scorer", [ContextualRecall(), ContextualPrecision(), GRADE])
def test_a_case_without_a_reference_is_a_problem_of_the_file(scorer):
    (problem,) = scorer.problems(Case("c", "q", expected={"tools": ["search_docs"]}), Known())
    assert problem.startswith("reference is missing")


@pytest.mark.parametrize("wrong", [{"steps": ()}, {"steps": (" ",)}, {"steps": ("Look.",), "sees": ()}])
def test_a_rubric_that_says_nothing_is_refused(wrong):
    with pytest.raises(ValueError, match="at least one"):
        GEval(**wrong)


def test_deepevals_environment_cannot_send_the_judging_elsewhere(tmp_path, monkeypatch):
    monkeypatch.setenv("DEEPEVAL_EVAL_MODE", "system_one")
    assert score(Faithfulness(), tmp_path, JudgedConnector(approve)).value == 1.0


SUMMARY = GEval(steps=("Compare.",), field="summary")


def test_one_field_of_a_structured_answer_is_judged(tmp_path):
    connector = JudgedConnector()
    trace = AgentTrace("c", answer='{"summary": "raw"}', structured={"summary": "one mark-7 summary", "n": 1})
    score(SUMMARY, tmp_path, connector, trace=trace)
    ((_, question),) = connector.judged
    assert "one mark-7 summary" in question.prompt
    assert "raw" not in question.prompt.partition("one mark-7 summary")[2]


@pytest.mark.parametrize(("structured", "why"), [(None, "no structured answer"), ({}, "has no summary")])
def test_an_answer_without_the_field_fails_without_a_judge(tmp_path, structured, why):
    connector = JudgedConnector()
    scored = score(SUMMARY, tmp_path, connector, trace=AgentTrace("c", answer="x", structured=structured))
    assert (scored.value, scored.passed) == (0.0, False)
    assert why in scored.reason
    assert connector.judged == []


def test_a_judge_that_sees_no_context_reads_nothing_of_what_a_case_expects():
    assert not SUMMARY.Expected.model_fields
    assert set(GRADE.Expected.model_fields) == {"tools"}
