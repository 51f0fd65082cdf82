"""What an edit asks of the judge again: exactly the questions that would be asked differently."""

from __future__ import annotations

from collections import Counter

import pytest

from eval_pipeline.errors import RecordingMisses
from eval_pipeline.scorers.deepeval import templates
from eval_pipeline_tests.judged_suite import DEEPEVAL, JudgedSuite
from eval_pipeline_tests.scripted import docs_reply
from eval_pipeline_tests.scripted_judge import JudgedConnector, reply, saying

# The nine cases that expect a tool have a context: truths and verdicts of each, and eight different answers
# to take claims from, as two cases get the same one; without a contradiction one reason serves all nine.
# Recall and precision: verdicts and a reason of each. Relevancy: nine different answers to take statements
# from, verdicts and a reason for each of the ten questions.
VERDICTS = {"faithfulness": 9 + 8 + 9 + 1, "recall": 9 * 2, "precision": 9 * 2, "relevancy": 9 + 10 * 2}


@pytest.fixture
def recorded(tmp_path):
    suite = JudgedSuite(tmp_path)
    connector = JudgedConnector()
    suite.score("new_episodes", connector)
    assert len(connector.judged) == sum(VERDICTS.values())
    return suite


def asked_again(suite: JudgedSuite, **judge) -> JudgedConnector:
    connector = JudgedConnector(**judge)
    suite.score("new_episodes", connector)
    return connector


def test_an_unchanged_suite_is_scored_without_a_client(recorded):
    connector = JudgedConnector()
    recorded.score("none", connector)
    assert (connector.made, connector.judged) == (0, [])


def test_replay_gives_the_scores_that_were_recorded(tmp_path):
    suite = JudgedSuite(tmp_path)
    live, replayed = suite.score("new_episodes"), suite.score("none")
    assert [(c.case_id, c.stage, c.score, c.outcome) for c in live] == [
        (c.case_id, c.stage, c.score, c.outcome) for c in replayed
    ]


def test_an_edited_reference_asks_only_its_cases_recall_and_precision_again(recorded):
    recorded.edit("datasets/docs-assistant.yaml", "with the ID of the archived task", "with its ID")
    with pytest.raises(RecordingMisses) as caught:
        recorded.score("none")
    assert {miss.case_id for miss in caught.value.misses} == {"restore"}
    assert all(
        miss.why.startswith("reference answer changed (") and ";" not in miss.why
        for miss in caught.value.misses
    )
    connector = asked_again(recorded)
    # Two verdict questions; the reasons that follow: recall's holds the reference, precision's does not.
    assert Counter(connector.kinds) == {"Verdicts": 2, "ContextualRecallScoreReason": 1}
    assert connector.chats == []


def test_an_unchanged_answer_under_a_new_prompt_asks_no_judge(recorded):
    recorded.edit("prompts/v1.md", "at most three sentences", "at most two sentences")
    connector = asked_again(recorded)
    assert len(connector.chats) == 19
    assert connector.judged == []


def test_a_changed_answer_asks_what_had_read_it(recorded):
    def replies(messages):
        said = docs_reply(messages)
        if said.text == "You are welcome!":
            said.content = "Glad it helped!"
        return said

    recorded.edit("prompts/v1.md", "at most three sentences", "at most two sentences")
    connector = asked_again(recorded, agent=replies)
    # Of `thanks` the statements and verdicts on them; with all of them yes, its reason is asked alike.
    assert connector.kinds == ["Statements", "Verdicts"]


def test_a_changed_template_asks_only_its_metric_and_its_step_again(recorded, monkeypatch):
    changed = {**templates.bundle()["FaithfulnessMetric"]}
    changed["generate_claims"] = "List the claims of:\n{{ actual_output }}"
    bundle = {**templates.bundle(), "FaithfulnessMetric": changed}
    monkeypatch.setattr(templates, "bundle", lambda: bundle)
    with pytest.raises(RecordingMisses, match=r"judge template of faithfulness \(generate_claims\) changed"):
        recorded.score("none")
    assert Counter(asked_again(recorded).kinds) == {"Claims": 8}


def test_a_changed_rubric_asks_only_its_stage_again(tmp_path):
    graded = f'  - {{name: tone, scorer: "{DEEPEVAL}:GEval", parameters: {{steps: [Is it kind?]}}}}\n'
    suite = JudgedSuite(tmp_path)
    suite.edit("suite.yaml", "judge:\n", f"{graded}judge:\n")
    suite.score("new_episodes")
    before = suite.suite.judge_of(suite.suite.cells[0].candidate).id
    suite.edit("suite.yaml", "Is it kind?", "Is it polite?")
    assert suite.suite.judge_of(suite.suite.cells[0].candidate).id != before
    with pytest.raises(RecordingMisses, match="rubric changed"):
        suite.score("none")
    assert Counter(asked_again(suite).kinds) == {"ReasonScore": 10}


def test_another_judge_leaves_the_traces_and_asks_every_verdict_again(recorded):
    keys = list(recorded.suite.candidates)
    recorded.edit("suite.yaml", "openai:judge", "openai:other-judge")
    assert list(recorded.suite.candidates) == keys
    connector = asked_again(recorded)
    assert (connector.chats, len(connector.judged)) == ([], sum(VERDICTS.values()))


def test_another_temperature_of_the_judge_is_another_judge(recorded):
    recorded.edit("suite.yaml", "temperature: 0.4", "temperature: 0.5")
    with pytest.raises(RecordingMisses, match="parameters changed"):
        recorded.score("none")
    assert len(asked_again(recorded).judged) == sum(VERDICTS.values())


def test_how_the_judge_is_reached_changes_nothing(recorded):
    judge = recorded.suite.judges
    recorded.edit("suite.yaml", "  name: openai:judge\n", "  name: openai:judge\n  timeout_s: 3\n")
    assert recorded.suite.judges.keys() == judge.keys()
    assert asked_again(recorded).judged == []


def test_a_candidate_may_have_a_judge_of_its_own_on_the_same_traces(recorded):
    other = "    prompt: v1\n  twice:\n    model: openai:scripted\n    embedder: openai:scripted-embedder\n"
    other += "    prompt: v1\n    judge: openai:second-judge\n"
    recorded.edit("suite.yaml", "    prompt: v1\n", other)
    suite = recorded.suite
    first, second = (suite.judge_of(key) for key in suite.candidates)
    assert (first.model.name, second.model.name) == ("openai:judge", "openai:second-judge")
    assert [candidate.sha for candidate in suite.candidates.values()] == [
        next(iter(suite.candidates.values())).sha
    ] * 2
    assert len(suite.judges) == 2


def test_a_defect_seen_is_a_failure_with_the_judges_reason(tmp_path):
    suite = JudgedSuite(tmp_path)
    judge = saying(
        Verdicts=lambda q: reply(q, ["no"] * (q.items or 0)),
        FaithfulnessScoreReason='{"reason": "nothing agrees"}',
    )
    checks = suite.score("new_episodes", JudgedConnector(judge))
    faithful = [check for check in checks if check.stage == "faithfulness"]
    assert {(check.outcome, check.reason) for check in faithful} == {("failed", "nothing agrees")}
