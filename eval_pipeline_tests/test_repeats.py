"""Cases run several times: samples of their own, seeds of their own, and only what is missing asked."""

from __future__ import annotations

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from eval_pipeline.agent_runs import run_cell
from eval_pipeline.cell_scoring import score_cell
from eval_pipeline.errors import CaseError, NotStoredError, RecordingMisses
from eval_pipeline.evaluation import Evaluation
from eval_pipeline.gating.decide import decide
from eval_pipeline.gating.outcomes import EvalBlock, outcomes_of_checks
from eval_pipeline.gating.policy import Policy
from eval_pipeline.recordings import Recordings, current_scope, read_entries
from eval_pipeline.suite_reading import find_suite
from eval_pipeline_tests.command_line import command_output, evaluate_in
from eval_pipeline_tests.docs_suite import DocsSuite
from eval_pipeline_tests.scripted import ScriptedConnector, call, docs_reply

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
        "  backup, two-laptops, restore, config-keys, pipe-colors, dry-run-import, issue-212, issue-231, "
        "token-leak, thanks (agent, repeats 1, 2): the same request is recorded for repeat 0, but not for "
        "this one",
    ]
    assert len(lines) == 3
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


# From a run to its report and its gate, with a scripted model that is steady, flaky or wrong by repeat.


def flaky_reply(messages):
    """Searches before it thanks for thanks in repeat 1, and never looks an issue up in repeat 2."""
    question = next(message for message in messages if isinstance(message, HumanMessage)).text
    answered = any(isinstance(message, ToolMessage) for message in messages)
    repeat = current_scope().repeat
    if repeat == 1 and "?" not in question and not answered:
        return call("search_docs", {"query": question})
    if repeat == 2 and "issue" in question:
        return AIMessage("I do not know.")
    return docs_reply(messages)


@pytest.fixture(scope="module")
def flaky_suite(tmp_path_factory):
    suite = repeated(tmp_path_factory.mktemp("flaky"), 3)
    suite.run("new_episodes", ScriptedConnector(flaky_reply))
    return suite


@pytest.fixture
def cli(flaky_suite, tmp_path, monkeypatch):
    evaluate_in(monkeypatch, flaky_suite.data_root, tmp_path / "warehouse")
    return command_output


def test_a_flaky_case_is_shown_explained_and_queried(cli, flaky_suite):
    code, out, err = cli("run", "docs")
    assert code == 0, err
    assert "/30 runs" in err
    told = [" ".join(line.split()) for line in out.splitlines()]
    assert "thanks flaky: passes 2 of 3, flips at tools" in told
    said = "1 of 3 do not pass, the first at tools   eval-pipeline explain docs --candidate scripted"
    assert f"\n  thanks: {said} --case thanks --repeat 1\n" in out

    code, out, _ = cli("explain", "docs", "--candidate", "scripted", "--case", "thanks", "--repeat", "1")
    assert (code, out.count("question  "), "\nrepeat     1, of 3\n" in out) == (0, 1, True)
    assert "fails first at tools" in out
    _, out, _ = cli("explain", "docs", "--candidate", "scripted", "--case", "thanks")
    assert [f"repeat     {n}, of 3" in out for n in range(3)] == [True, True, True]

    sql = "select case_id, runs, measured, passed from current_case_repeats where flaky order by 1"
    _, out, _ = cli("sql", sql)
    flaky = [line.split() for line in out.splitlines() if line.split()[-1] == "2"]
    assert flaky == [["issue-212", "3", "3", "2"], ["issue-231", "3", "3", "2"], ["thanks", "3", "3", "2"]]

    assert cli("run", "docs", "--strict")[0] == 1


def test_explain_refuses_a_repeat_that_there_is_not(cli):
    with pytest.raises(CaseError, match="case 'thanks' has no repeat 3; it has 3, from 0"):
        cli("explain", "docs", "--candidate", "scripted", "--case", "thanks", "--repeat", "3")


def test_stored_results_of_fewer_repeats_are_no_report_of_more(tmp_path, monkeypatch):
    suite = repeated(tmp_path, 1)
    suite.run("new_episodes", SeededConnector())
    evaluation = Evaluation("r", suite.data_root, str(tmp_path / "warehouse"))
    (cell,) = evaluation.suite("docs").cells
    evaluation.store_traces(cell)
    suite.edit("datasets/docs-assistant.yaml", "repeats: 1\n", "repeats: 2\n")
    with pytest.raises(NotStoredError, match=r"runs without a trace: backup repeat 1, .* and 5 more"):
        evaluation.store_scores(cell)


def outcomes_of(suite, repeats=3):
    """The outcomes of the first `repeats` repeats of the suite's one cell, as a gate reads them."""
    found = find_suite(suite.data_root, "docs")
    (cell,) = found.cells
    open_recordings = lambda: Recordings(found.recordings)  # noqa: E731
    runs = [run for run in found.datasets[cell.dataset].runs if run.repeat < repeats]
    traces = run_cell(found, cell, open_recordings, runs=runs)
    checks = score_cell(found, cell, traces, open_recordings)
    dataset = found.datasets[cell.dataset]
    block = EvalBlock(suite="docs", dataset="docs-assistant@1", cases_sha=dataset.cases_sha, repeats=repeats)
    return outcomes_of_checks(block, checks)


@pytest.mark.parametrize(
    ("rule", "regressed"),
    [
        # One repeat of three goes wrong: that is a regression where all must pass, and none by majority.
        ("all", ["docs::issue-212::tools", "docs::issue-231::tools", "docs::thanks::tools"]),
        ("majority", []),
    ],
)
def test_the_gate_counts_a_flaky_case_by_its_policy(flaky_suite, rule, regressed):
    policy = Policy(case_passes=rule, min_pass_rate=0)
    decision = decide(outcomes_of(flaky_suite, 1), outcomes_of(flaky_suite), policy)
    assert [test.nodeid for test in decision.regressed] == regressed
    assert decision.verdict == ("block" if regressed else "pass")
    assert {"docs::thanks::tools", "docs::issue-231::tools"} <= {test.nodeid for test in decision.flaky}


def test_the_gate_wants_as_many_repeats_as_its_policy(flaky_suite):
    # Of two repeats one is no majority: thanks regresses then, which is allowed here.
    policy = Policy(case_passes="majority", min_pass_rate=0, repeats_required=3, max_regressions=1)
    before = outcomes_of(flaky_suite)
    assert decide(before, outcomes_of(flaky_suite, 3), policy).verdict == "pass"
    decision = decide(before, outcomes_of(flaky_suite, 2), policy)
    assert [reason.rule for reason in decision.reasons] == ["repeats_required"]
    assert decision.verdict == "inconclusive"
