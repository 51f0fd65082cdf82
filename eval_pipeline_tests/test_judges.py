"""A judge's identity, the questions it is asked, and what its recordings hold."""

from __future__ import annotations

import asyncio

import pytest

from eval_pipeline.judges import Judge, JudgeCalls, JudgePrompt
from eval_pipeline.model_settings import ModelSettings
from eval_pipeline.recordings import Recordings, read_entries, scope
from eval_pipeline_tests.scripted_judge import JUDGE, JudgedConnector

SCHEMA = {"title": "Claims", "type": "object", "properties": {"claims": {"type": "array"}}}
PROMPT = JudgePrompt(
    "List the claims of: Blue.", "faithfulness", "generate_claims", "a" * 64, {"answer": "Blue."}
)


def ask(folder, judge_repeat=0, mode="new_episodes", connector=None, judge=JUDGE):
    recordings = Recordings(folder, mode)
    calls = JudgeCalls(Judge(judge, "0" * 64), recordings, connector or JudgedConnector())
    with scope("c", "judge", label="faithfulness", judge_repeat=judge_repeat):
        said = asyncio.run(calls.ask(PROMPT, SCHEMA))
    recordings.close()
    return said


@pytest.mark.parametrize(
    ("other", "same"),
    [
        ({"base_url": "http://127.0.0.1:9", "timeout_s": 3, "max_concurrency": 1}, True),
        ({"settings": {"temperature": 0.4, "seed": 8}}, False),
        ({"weights": "sha256:ab"}, False),
        ({"name": "openai:judge-2"}, False),
    ],
)
def test_the_id_covers_what_makes_it_judge_so_and_not_how_it_is_reached(other, same):
    changed = Judge(JUDGE.model_copy(update=other), "0" * 64)
    assert (changed.id == Judge(JUDGE, "0" * 64).id) is same


def test_the_id_covers_rubrics_and_templates():
    assert Judge(JUDGE, "0" * 64).id != Judge(JUDGE, "1" * 64).id


def test_each_repeat_has_its_own_seed_at_the_temperature_of_production(tmp_path):
    connector = JudgedConnector()
    for repeat in range(3):
        ask(tmp_path, repeat, connector=connector)
    assert [settings.settings for settings, _ in connector.judged] == [
        {"temperature": 0.4, "seed": seed} for seed in (7, 8, 9)
    ]


def test_a_judge_without_a_seed_is_sent_none(tmp_path):
    judge = ModelSettings(name="openai:judge", settings={"temperature": 1})
    connector = JudgedConnector()
    ask(tmp_path, 2, connector=connector, judge=judge)
    assert connector.judged[0][0].settings == {"temperature": 1}


def test_repeats_are_recorded_apart_and_replayed_as_they_were(tmp_path):
    for repeat in range(2):
        ask(tmp_path, repeat, connector=JudgedConnector(lambda question, n=repeat: f'{{"claims": ["{n}"]}}'))
    assert [ask(tmp_path, repeat, "none") for repeat in range(2)] == [
        '{"claims": ["0"]}',
        '{"claims": ["1"]}',
    ]


def test_an_entry_says_in_words_what_was_asked_and_of_what_it_was_made(tmp_path):
    ask(tmp_path)
    (entry,) = read_entries(tmp_path)
    assert (entry.role, entry.label, entry.model, entry.cases) == (
        "judge",
        "faithfulness",
        "openai:judge",
        ("c",),
    )
    assert entry.words == "faithfulness generate_claims: Blue."
    assert [label for label, _ in entry.parts] == ["parameters", "text", "response schema"]
    assert [label for label, _ in entry.explain] == [
        "judge template of faithfulness (generate_claims)",
        "answer",
    ]
