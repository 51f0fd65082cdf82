"""Scoring a cell with its judge: gating, side by side without mixing, and what is not recorded."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from eval_pipeline.cases import Case
from eval_pipeline.cell_scoring import score_cell
from eval_pipeline.datasets import Dataset
from eval_pipeline.errors import RecordingMisses
from eval_pipeline.gating.outcomes import JudgeRecord
from eval_pipeline.models import retrying
from eval_pipeline.recordings import Recordings
from eval_pipeline.scorers.deepeval import AnswerRelevancy, Faithfulness
from eval_pipeline.scores import Stage
from eval_pipeline.suites import Candidate, Cell, Suite
from eval_pipeline.system_spec import SystemSpec
from eval_pipeline.traces import AgentTrace, TraceError
from eval_pipeline_tests.judged_suite import JudgedSuite
from eval_pipeline_tests.scripted_judge import JUDGE, JudgedConnector, Question, reply, saying

GOOD = JudgeRecord(calibrated=True, defects=8, caught=8, sound=8, false_alarms=0)
POOR = JudgeRecord(calibrated=False, defects=8, caught=2, sound=8, false_alarms=1)
STAGES = (
    Stage("faithfulness", Faithfulness(), 0.7, "when_calibrated"),
    Stage("answer_relevancy", AnswerRelevancy(), 0.7, "when_calibrated"),
)


def marked_suite(folder, count: int) -> tuple[Suite, list[AgentTrace]]:
    """A suite of `count` cases, each with a mark of its own in answer and context."""
    cases = tuple(
        Case(f"case-{n}", f"What of mark-{n}?", expected={"tools": ["search"]}) for n in range(count)
    )
    traces = [
        AgentTrace(c.id, answer=f"It is mark-{n}.", context=(f"See mark-{n}.",)) for n, c in enumerate(cases)
    ]
    suite = Suite(
        name="marked",
        folder=folder,
        description="",
        system=SystemSpec("my.system", lambda context: None, frozenset(), None, None, "c0de" * 16),
        stages=STAGES,
        candidates={"a@1": Candidate("a", JUDGE, None, "", None, {})},
        datasets={"d@1": Dataset("d", 1, cases, (), {})},
        cells=(Cell("marked", "a@1", "d@1"),),
        judge=JUDGE,
    )
    return suite, traces


def score(suite, traces, connector=None, mode="new_episodes", **more):
    open_recordings = lambda: Recordings(suite.recordings, mode)  # noqa: E731
    return score_cell(suite, suite.cells[0], traces, open_recordings, connector=connector, **more)


def test_fifty_cases_side_by_side_keep_each_reason_with_its_case(tmp_path):
    suite, traces = marked_suite(tmp_path, 50)
    checks = score(suite, traces, JudgedConnector(delay=0.02))
    assert len(checks) == 100
    for check in checks:
        mark = f"mark-{check.case_id.removeprefix('case-')}"
        assert check.score is not None
        steps = str(check.score.details)
        assert set(re.findall(r"mark-\d+", steps)) == {mark}, check
        if (
            check.stage == "answer_relevancy"
        ):  # its reason's question holds the case's; faithfulness's does not
            assert check.reason == f"about {mark}"


def test_one_bad_reply_is_that_cases_error_and_touches_no_other(tmp_path):
    def torn(question: Question) -> str:
        whole = reply(question, [])
        return whole[:-4] if question.mark == "mark-3" else whole

    suite, traces = marked_suite(tmp_path, 6)
    checks = score(suite, traces, JudgedConnector(saying(Statements=torn)))
    bad = [check for check in checks if check.outcome == "error"]
    assert [(check.case_id, check.stage, check.error_source) for check in bad] == [
        ("case-3", "answer_relevancy", "judge")
    ]
    assert "no usable JSON" in bad[0].reason
    assert all(check.outcome == "passed" for check in checks if check not in bad)


@pytest.mark.parametrize(
    ("records", "gates"),
    [({}, False), ({"faithfulness": POOR}, False), ({"faithfulness": GOOD}, True)],
)
def test_a_judged_stage_gates_only_when_its_judge_is_calibrated(tmp_path, records, gates):
    suite, traces = marked_suite(tmp_path, 1)
    checks = {check.stage: check for check in score(suite, traces, JudgedConnector(), records=records)}
    assert checks["faithfulness"].gating is gates
    assert checks["answer_relevancy"].gating is False
    assert checks["faithfulness"].judge == suite.judge_of("a@1").label


def test_a_run_that_broke_off_is_an_error_of_every_judged_stage_and_asks_nobody(tmp_path):
    suite, _ = marked_suite(tmp_path, 1)
    connector = JudgedConnector()
    broken = AgentTrace("case-0", error=TraceError("system", "tool_limit", "still calling"))
    checks = score(suite, [broken], connector)
    assert [(check.outcome, check.error_source) for check in checks] == [("error", "system")] * 2
    assert connector.judged == []


def test_a_score_without_a_question_names_no_judge(tmp_path):
    suite, (trace,) = marked_suite(tmp_path, 1)
    connector = JudgedConnector()
    faithfulness, relevancy = score(suite, [replace(trace, context=())], connector)
    assert (faithfulness.outcome, faithfulness.judge) == ("failed", None)  # nothing was fetched
    assert (relevancy.outcome, relevancy.judge) == ("passed", suite.judge_of("a@1").label)


def test_equal_answers_in_two_repeats_share_one_verdict(tmp_path):
    suite, traces = marked_suite(tmp_path, 1)
    connector = JudgedConnector()
    again = AgentTrace("case-0", repeat=1, answer=traces[0].answer, context=traces[0].context)
    checks = score(suite, [*traces, again], connector)
    assert len(checks) == 4
    assert len(connector.judged) == 4 + 3  # faithfulness and relevancy, once


def test_progress_is_told_for_every_judged_check(tmp_path):
    suite, traces = marked_suite(tmp_path, 2)
    told = []
    score(suite, traces, JudgedConnector(), on_progress=lambda done, total: told.append((done, total)))
    assert told == [(1, 4), (2, 4), (3, 4), (4, 4)]


def test_calls_and_tokens_of_the_judge_are_counted_also_on_replay(tmp_path):
    suite, traces = marked_suite(tmp_path, 1)
    score(suite, traces, JudgedConnector())
    assert [check.calls for check in score(suite, traces, mode="none")] == [4, 3]


@pytest.mark.parametrize(("records", "gating"), [({}, False), ({"faithfulness": GOOD}, True)])
def test_a_judge_without_any_recording_leaves_its_checks_unmeasured_which_gate_once_it_is_calibrated(
    tmp_path, records, gating
):
    suite = JudgedSuite(tmp_path)
    suite.run("new_episodes")
    checks = suite.score("none", records=records)
    faithful = [check for check in checks if check.stage == "faithfulness"]
    assert {(check.outcome, check.gating, check.score) for check in faithful} == {
        ("not_measured", gating, None)
    }
    assert faithful[0].reason == (
        "judge not recorded; record with: eval-pipeline run docs --candidate scripted "
        "--dataset docs-assistant --record-mode new_episodes"
    )
    assert len([check for check in checks if check.stage == "tools" and check.outcome == "passed"]) > 0


def test_a_judge_that_is_recorded_in_part_is_a_miss_that_names_its_cases(tmp_path):
    suite = JudgedSuite(tmp_path)
    suite.score("new_episodes")
    (file,) = suite.folder.glob("recordings/openai-judge/calls.jsonl")
    kept = [line for line in file.read_text().splitlines(keepends=True) if '"cases": ["backup"]' not in line]
    file.write_text("".join(kept))
    with pytest.raises(
        RecordingMisses, match="record what is missing with: eval-pipeline run docs"
    ) as caught:
        suite.score("none")
    assert {(miss.case_id, miss.role) for miss in caught.value.misses} == {("backup", "judge")}


def test_an_interrupted_recording_goes_on_where_it_stopped(tmp_path, monkeypatch):
    monkeypatch.setattr(retrying, "_backoff", lambda state: 0.0)  # an outage is asked again without a wait
    suite, traces = marked_suite(tmp_path, 5)
    asked = 0

    def stops(question: Question) -> str:
        nonlocal asked
        asked += 1
        if asked > 10:
            raise PermissionError("scripted outage")
        return reply(question, ["yes"] * (question.items or 0))

    before = score(suite, traces, JudgedConnector(stops))
    assert {check.error_source for check in before if check.outcome == "error"} == {"provider"}
    connector = JudgedConnector()
    checks = score(suite, traces, connector)
    assert all(check.outcome == "passed" for check in checks)
    # Of five cases truths, claims, verdicts, statements, verdicts, reason; one reason of faithfulness.
    assert len(connector.judged) == 5 * 6 + 1 - 10
