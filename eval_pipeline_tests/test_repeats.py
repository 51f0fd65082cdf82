"""Cases run several times: samples of their own, seeds of their own, and only what is missing asked."""

from __future__ import annotations

import pytest
from langchain_core.messages import AIMessage

from eval_pipeline.errors import RecordingMisses
from eval_pipeline.recordings import read_entries
from eval_pipeline.suite_reading import find_suite
from eval_pipeline_tests.docs_suite import DocsSuite
from eval_pipeline_tests.scripted import ScriptedConnector, docs_reply

CASES = 10
SEEDED = "model: {name: openai:scripted, settings: {temperature: 0.4, seed: 7}}"


class SeededConnector(ScriptedConnector):
    """Thanks for thanks with the seed that its client was made with, and counts the clients."""

    def __init__(self):
        super().__init__()
        self.settings = []

    def chat(self, settings):
        self.settings.append(settings.settings)

        def reply(messages):
            message = docs_reply(messages)
            if message.text == "You are welcome!":
                return AIMessage(f"Welcome, seed {settings.settings.get('seed')}, {len(self.chats)} asked.")
            return message

        client = super().chat(settings)
        return client.model_copy(update={"reply": reply})


def repeated(folder, n, model=SEEDED):
    suite = DocsSuite(folder)
    suite.edit("suite.yaml", "model: openai:scripted\n", f"{model}\n")
    suite.edit("datasets/docs-assistant.yaml", "version: 1\n", f"version: 1\nrepeats: {n}\n")
    return suite


def thanks(traces):
    return {trace.repeat: trace.answer for trace in traces if trace.case_id == "thanks"}


def test_each_repeat_asks_with_a_seed_of_its_own_and_replays_as_it_was(tmp_path):
    suite, connector = repeated(tmp_path, 3), SeededConnector()
    traces = suite.run("new_episodes", connector)
    assert connector.settings == [{"temperature": 0.4, "seed": seed} for seed in (7, 8, 9)]
    assert [(trace.case_id, trace.repeat) for trace in traces[:4]] == [
        ("backup", 0),
        ("backup", 1),
        ("backup", 2),
        ("two-laptops", 0),
    ]
    replayed = suite.run("none")
    assert thanks(replayed) == thanks(traces)
    assert len(set(thanks(replayed).values())) == 3


def test_more_repeats_ask_only_what_is_missing(tmp_path):
    suite = repeated(tmp_path, 1)
    once = suite.run("new_episodes", SeededConnector())
    before = {entry.id for entry in read_entries(suite.folder / "recordings")}
    suite.edit("datasets/docs-assistant.yaml", "repeats: 1\n", "repeats: 3\n")
    connector = SeededConnector()
    traces = suite.run("new_episodes", connector)
    first = [trace for trace in traces if trace.repeat == 0]
    assert connector.settings == [{"temperature": 0.4, "seed": seed} for seed in (8, 9)]
    assert sum(trace.usage.called for trace in first) == 0
    assert all(trace.usage.replayed <= 1 for trace in traces if trace.repeat)  # the query's vector is shared
    assert [trace.answer for trace in first] == [trace.answer for trace in once]
    assert before < {entry.id for entry in read_entries(suite.folder / "recordings")}


def test_a_model_without_a_seed_gives_samples_of_their_own_too(tmp_path):
    suite, connector = repeated(tmp_path, 2, "model: openai:scripted"), SeededConnector()
    traces = suite.run("new_episodes", connector)
    assert connector.settings == [{}]  # one client for all
    assert len(set(thanks(traces).values())) == 2
    assert thanks(suite.run("none")) == thanks(traces)


def test_missing_repeats_are_named_with_the_command_that_records_them(tmp_path):
    suite = repeated(tmp_path, 1)
    suite.run("new_episodes", SeededConnector())
    suite.edit("datasets/docs-assistant.yaml", "repeats: 1\n", "repeats: 3\n")
    with pytest.raises(RecordingMisses) as caught:
        suite.run("none")
    lines = str(caught.value).splitlines()
    assert lines[:2] == [
        f"the recordings do not answer {CASES} of the run's cases:",
        "  backup (agent, repeats 1, 2): the same request is recorded for repeat 0, but not for this one",
    ]
    assert len(lines) == 2 + CASES
    assert lines[-1].startswith("record what is missing with: eval-pipeline run docs --candidate scripted")


def test_a_datasets_repeats_win_over_the_suites_and_change_no_key(tmp_path):
    suite = DocsSuite(tmp_path)
    before = find_suite(suite.data_root, "docs")
    suite.edit("suite.yaml", "candidates:\n", "repeats: 2\ncandidates:\n")
    (dataset,) = find_suite(suite.data_root, "docs").datasets.values()
    assert (dataset.repeats, len(dataset.runs)) == (2, 2 * CASES)
    suite.edit("datasets/docs-assistant.yaml", "version: 1\n", "version: 1\nrepeats: 3\n")
    after = find_suite(suite.data_root, "docs")
    (dataset,) = after.datasets.values()
    assert dataset.repeats == 3
    assert after.cells == before.cells
