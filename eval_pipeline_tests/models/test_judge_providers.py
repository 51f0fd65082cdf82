"""The judge through each provider's real client, over a socket: schema, seed and temperature arrive."""

from __future__ import annotations

import json

import pytest

from eval_pipeline.cases import Case
from eval_pipeline.errors import ScorerError
from eval_pipeline.event_loop import run_async
from eval_pipeline.judges import Judge, JudgeCalls
from eval_pipeline.model_settings import ModelSettings
from eval_pipeline.recordings import Recordings, scope
from eval_pipeline.scorers.deepeval import ContextualRecall
from eval_pipeline.scores import Score
from eval_pipeline.traces import AgentTrace
from eval_pipeline_tests.models.live_models import CHAT, LiveModels
from eval_pipeline_tests.provider_replies import Say

CASE = Case("c", "Where?", "In SQLite. One file a list.", {"tools": ["search_docs"]})
TRACE = AgentTrace("c", answer="In one file.", context=("Tasks are in one SQLite file.",))
VERDICTS = json.dumps({"verdicts": [{"verdict": "yes", "reason": "r"}, {"verdict": "no", "reason": "r"}]})


def judge_once(live: LiveModels, judge_repeat: int = 0) -> Score:
    settings = ModelSettings(
        name=CHAT[live.protocol],
        settings={"temperature": 0.5, "seed": 7},
        base_url=live.stub.base_url(live.protocol),
    )
    recordings = Recordings(live.folder, "new_episodes")
    judge = JudgeCalls(Judge(settings, "0" * 64), recordings, live.connector, live.calls)
    try:
        with scope("c", "judge", label="contextual_recall", judge_repeat=judge_repeat):
            return run_async(ContextualRecall().score(CASE, TRACE, judge))
    finally:
        recordings.close()


def test_the_schema_the_seed_and_the_temperature_arrive(live):
    live.stub.script(Say(VERDICTS), Say('{"reason": "half of it"}'))
    scored = judge_once(live, judge_repeat=2)
    assert (scored.value, scored.reason) == (0.5, "half of it")
    sent = json.dumps(live.stub.asked[0].body)
    schema = ('"minItems": 2', '"maxItems": 2', '"enum": ["yes", "no"]')
    assert [part for part in (*schema, '"seed": 9', '"temperature": 0.5') if part not in sent] == []


def test_a_truncated_reply_is_a_judges_error(live):
    live.stub.script(Say(VERDICTS[:20], finish="truncated"))
    with pytest.raises(ScorerError, match="truncated") as caught:
        judge_once(live)
    assert caught.value.source == "judge"
