"""Replies that DeepEval would mend, skip or count wrong: each is a judge's error with its cause, no score."""

from __future__ import annotations

import asyncio
import json

import pytest
from langchain_core.messages import AIMessage

from eval_pipeline.cases import Case
from eval_pipeline.errors import ScorerError
from eval_pipeline.models import retrying
from eval_pipeline.scorers.deepeval import AnswerRelevancy, ContextualRecall, Faithfulness, GEval
from eval_pipeline.scorers.deepeval.judge_model import judge_model
from eval_pipeline.traces import AgentTrace
from eval_pipeline_tests.scripted_judge import JudgedConnector, judging, saying

CASE = Case("c", "Where?", "In SQLite. One file a list.", {"tools": ["search_docs"]})
TRACE = AgentTrace("c", answer="In one file.", context=("Tasks are in one SQLite file.",))

YES = {"verdict": "yes", "reason": "so"}


def said(*verdicts: object, **more: object) -> str:
    return json.dumps({"verdicts": list(verdicts), **more})


def error_of(scorer, folder, answer, mode="new_episodes") -> ScorerError:
    with judging(folder, JudgedConnector(answer), mode) as judge:
        with pytest.raises(ScorerError) as caught:
            asyncio.run(scorer.score(CASE, TRACE, judge))
    return caught.value


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        (said({"verdict": "Yes, mostly", "reason": "r"}, YES), "verdicts.0.verdict: Input should be"),
        (said({"verdict": "Yes", "reason": "r"}, YES), "verdicts.0.verdict: Input should be"),
        (said({"verdict": True, "reason": "r"}, YES), "verdicts.0.verdict: Input should be"),
        (said({"verdict": None, "reason": "r"}, YES), "verdicts.0.verdict: Input should be"),
        (said({"reason": "r"}, YES), "verdicts.0.verdict: Field required"),
        (said({"verdict": "yes"}, YES), "verdicts.0.reason: Field required"),
        (said({**YES, "sentence": 1}, YES), "verdicts.0.sentence: Extra inputs"),
        (said(YES, YES, note="all fine"), "note: Extra inputs"),
        (said(YES), "1 verdict for 2 items"),
        (said(YES, YES, YES), "3 verdicts for 2 items"),
        (said(), "verdicts is empty"),
        ("{}", "verdicts: Field required"),
        ("[]", "Input should be an object"),
        (said(YES, YES)[:-9], "no usable JSON"),
        (f"```json\n{said(YES, YES)}\n```", "no usable JSON"),
        (f"Sure! {said(YES, YES)}", "no usable JSON"),
        ('{"verdicts": [], "verdicts": []}', "a key stands twice"),
        ("The context says so.", "no usable JSON"),
    ],
)
def test_a_reply_that_is_not_to_the_letter_is_a_judges_error_with_its_cause(tmp_path, text, cause):
    error = error_of(ContextualRecall(), tmp_path, saying(Verdicts=text))
    assert error.source == "judge"
    assert error.scorer == "contextual_recall"
    assert "unusable reply to generate_verdicts" in error.reason
    assert cause in error.reason


def test_an_unusable_reply_is_recorded_and_refused_again_on_replay(tmp_path):
    live = error_of(ContextualRecall(), tmp_path, saying(Verdicts=said(YES)))
    replayed = error_of(ContextualRecall(), tmp_path, saying(), mode="none")
    assert str(replayed) == str(live)


@pytest.mark.parametrize(
    ("scorer", "replies", "cause"),
    [
        (Faithfulness(), {"Claims": '{"claims": []}'}, "claims is empty"),
        (Faithfulness(), {"Truths": '{"truths": []}'}, "truths is empty"),
        (Faithfulness(), {"Claims": '{"claims": [" "]}'}, "claims is empty or has an empty entry"),
        (Faithfulness(), {"Claims": '{"claims": ["a", "b"]}', "Verdicts": said(YES)}, "1 verdict for 2"),
        (AnswerRelevancy(), {"Statements": '{"statements": []}'}, "statements is empty"),
        (AnswerRelevancy(), {"Verdicts": said()}, "verdicts is empty"),
        (AnswerRelevancy(), {"AnswerRelevancyScoreReason": '{"reason": ""}'}, "the reason is empty"),
        (GEval(steps=("Look.",)), {"ReasonScore": '{"score": true, "reason": "r"}'}, "score: Input should"),
        (GEval(steps=("Look.",)), {"ReasonScore": '{"score": "9", "reason": "r"}'}, "score: Input should"),
        (GEval(steps=("Look.",)), {"ReasonScore": '{"score": NaN, "reason": "r"}'}, "NaN is no JSON"),
        (GEval(steps=("Look.",)), {"ReasonScore": '{"reason": "r"}'}, "score: Field required"),
    ],
)
def test_what_deepeval_would_score_as_perfect_or_odd_is_an_error(tmp_path, scorer, replies, cause):
    error = error_of(scorer, tmp_path, saying(**replies))
    assert (error.source, cause in error.reason) == ("judge", True), error.reason


@pytest.mark.parametrize(
    ("message", "cause"),
    [
        (AIMessage(said(YES, YES), response_metadata={"finish_reason": "length"}), "truncated"),
        (AIMessage("", response_metadata={"finish_reason": "SAFETY"}), "blocked"),
        (AIMessage("I can't.", additional_kwargs={"refusal": "no"}), "refused"),
        (AIMessage(" "), "empty_answer"),
    ],
)
def test_a_reply_that_is_none_is_a_judges_error_now_and_on_replay(tmp_path, message, cause):
    live = error_of(ContextualRecall(), tmp_path, saying(Verdicts=lambda question: message))
    assert live.source == "judge"
    assert cause in live.reason
    assert str(error_of(ContextualRecall(), tmp_path, saying(), mode="none")) == str(live)


def test_a_provider_that_is_not_there_is_a_providers_error_and_not_recorded(tmp_path, monkeypatch):
    monkeypatch.setattr(retrying, "_backoff", lambda state: 0.0)  # an outage is asked again without a wait

    def unreachable(question):
        raise PermissionError("scripted: no such server")

    assert error_of(ContextualRecall(), tmp_path, unreachable).source == "provider"
    assert list(tmp_path.rglob("*.jsonl")) == []


def test_a_type_error_is_raised_and_not_taken_as_a_hint_to_ask_again_without_a_schema(tmp_path):
    class Confused:
        judge = None
        asked = 0

        async def ask(self, prompt, schema):
            self.asked += 1
            raise TypeError("a_generate() got an unexpected keyword argument 'schema'")

    with judging(tmp_path) as judge:
        confused = Confused()
        confused.judge = judge.judge
        with pytest.raises(ScorerError, match="TypeError"):
            asyncio.run(ContextualRecall().score(CASE, TRACE, confused))
    assert confused.asked == 1


def test_text_that_deepeval_takes_for_a_prompt_too_long_keeps_its_own_error(tmp_path):
    error = error_of(ContextualRecall(), tmp_path, saying(Verdicts="this prompt is too long"))
    assert "no usable JSON" in error.reason


def test_a_prompt_that_is_none_of_the_templates_is_refused(tmp_path):
    with judging(tmp_path) as judge:
        model = judge_model(judge, "faithfulness")
        with pytest.raises(ScorerError, match="none of its templates"):
            asyncio.run(model.a_generate("Is this so?"))
        with pytest.raises(ScorerError, match="outside the event loop"):
            model.generate("Is this so?")


def test_the_progress_bar_stays_away(tmp_path, capsys):
    with judging(tmp_path) as judge:
        asyncio.run(AnswerRelevancy().score(CASE, TRACE, judge))
    assert capsys.readouterr() == ("", "")
