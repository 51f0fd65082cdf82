"""The issue triage: one structured call an issue, and an unusable reply that fails its check."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest
from langchain_core.messages import AIMessage, HumanMessage

from eval_pipeline.agent_runs import run_cell
from eval_pipeline.cell_scoring import score_cell
from eval_pipeline.evaluation import Evaluation
from eval_pipeline.explanation import explain_case
from eval_pipeline.recordings import Recordings
from eval_pipeline.report.case_reports import CaseReport
from eval_pipeline.report.stage_report import build_report
from eval_pipeline.suite_reading import read_suite
from eval_pipeline_tests.scripted_judge import JudgedConnector, reply, saying

SHIPPED = Path(__file__).parent.parent.parent / "data" / "issue_triage"
CHECKS = ["reply_matches_schema", "label", "priority", "summary_is_short_and_specific"]
CASE = {"label": "bug", "priority": "p0", "keeps": ["import"], "checks": ["summary_is_faithful"]}
SUMMARY = "tracker import drops rows, mark-1"
GOOD = {"label": "bug", "priority": "p0", "summary": SUMMARY}


class Triaged:
    """The shipped suite with one case, one candidate, a scripted model and a scripted judge."""

    def __init__(self, folder: Path, said: AIMessage, judge_score: float = 10, **expected: object) -> None:
        shutil.copytree(SHIPPED / "prompts", folder / "triage" / "prompts")
        stages = (SHIPPED / "suite.yaml").read_text().partition("candidates:")[0]
        stages = stages.replace("google_genai:gemini-3.8-flash", "openai:judge")
        candidates = "candidates:\n  scripted: {model: 'openai:scripted', prompt: v1}\n"
        (folder / "triage" / "suite.yaml").write_text(stages.replace("calibration:", "x:").partition("x:")[0])
        with (folder / "triage" / "suite.yaml").open("a") as file:
            file.write(candidates)
        case = {"id": "a", "input": "Rows missing\n\nAfter `tracker import`.", "expected": CASE | expected}
        (folder / "triage" / "datasets").mkdir()
        (folder / "triage" / "datasets" / "one.yaml").write_text(json.dumps({"version": 1, "cases": [case]}))
        self.connector = JudgedConnector(
            saying(ReasonScore=lambda question: reply(question, [], judge_score)), lambda messages: said
        )
        suite = read_suite(folder / "triage")
        (cell,) = suite.cells

        def recordings() -> Recordings:
            return Recordings(suite.recordings, "new_episodes")

        (self.trace,) = traces = run_cell(suite, cell, recordings, connector=self.connector)
        checks = score_cell(suite, cell, traces, recordings, connector=self.connector)
        self.row: CaseReport = build_report(suite, cell, traces, checks).rows[0]

    @property
    def outcomes(self) -> dict[str, str]:
        return {name: check.outcome for name, check in self.row.checks.items()}


def says(**changed: object) -> AIMessage:
    return AIMessage(json.dumps(GOOD | changed))


def test_an_issue_is_asked_about_once_with_the_prompt_and_its_text(tmp_path):
    found = Triaged(tmp_path, says())
    ((prompt, issue),) = found.connector.chats
    assert prompt.text == (SHIPPED / "prompts" / "v1.md").read_text().strip()
    assert issue == HumanMessage("Rows missing\n\nAfter `tracker import`.")
    assert (found.trace.answer, found.trace.structured) == (json.dumps(GOOD), GOOD)
    assert found.trace.usage.calls == 1


def test_a_right_triage_passes_every_check(tmp_path):
    found = Triaged(tmp_path, says())
    assert found.outcomes == dict.fromkeys([*CHECKS, "summary_is_faithful"], "passed")
    ((_, question),) = found.connector.judged
    assert SUMMARY in question.prompt
    assert "p0" not in question.prompt  # it judges the summary and not the whole reply


@pytest.mark.parametrize(
    ("changed", "failed"),
    [
        ({"label": "docs"}, "label"),
        ({"priority": "p1"}, "priority"),
        ({"summary": "tracker drops rows"}, "summary_is_short_and_specific"),
        ({"summary": "import " * 21}, "summary_is_short_and_specific"),
    ],
)
def test_a_wrong_field_fails_its_own_check_alone(tmp_path, changed, failed):
    found = Triaged(tmp_path, says(**changed))
    assert [name for name, outcome in found.outcomes.items() if outcome != "passed"] == [failed]
    assert found.row.first_failure == failed


@pytest.mark.parametrize(
    "said",
    [
        AIMessage("It is a bug."),
        AIMessage(f"```json\n{json.dumps(GOOD)}\n```"),
        AIMessage(json.dumps(GOOD)[:-1]),
        says(priority="high"),
        says(summary="  "),
        says(why="rows"),
        AIMessage('{"label": "bug", "priority": "p0"}'),
    ],
    ids=["prose", "in a fence", "cut off", "no such priority", "blank", "field too many", "field missing"],
)
def test_an_unusable_reply_fails_its_schema_first_and_crashes_nothing(tmp_path, said):
    found = Triaged(tmp_path, said)
    assert found.trace.error is None
    assert (found.trace.answer, found.trace.structured) == (said.text, None)
    assert found.outcomes == dict.fromkeys([*CHECKS, "summary_is_faithful"], "failed")
    assert found.row.first_failure == "reply_matches_schema"
    assert found.connector.judged == []  # there is no summary to judge


def test_a_summary_is_judged_where_the_case_asks_for_it(tmp_path):
    found = Triaged(tmp_path, says(), checks=[])
    assert list(found.outcomes) == CHECKS
    assert found.connector.judged == []


def test_an_unfaithful_summary_is_shown_and_fails_nothing_until_the_judge_is_calibrated(tmp_path):
    found = Triaged(tmp_path, says(), judge_score=3)
    assert found.outcomes["summary_is_faithful"] == "failed"
    assert found.row.first_advisory_failure == "summary_is_faithful"
    assert found.row.outcome == "passed"


def test_the_shipped_cases_cover_every_label_and_priority():
    first, second = read_suite(SHIPPED).datasets.values()
    assert (len(first.cases), len(second.cases)) == (12, 14)
    assert second.cases[:12] == first.cases
    assert [case.id for case in second.cases[12:]] == ["tags-lost-on-edit", "week-start-question"]
    assert {case.expected["label"] for case in first.cases} == {"bug", "feature", "docs", "question"}
    assert {case.expected["priority"] for case in first.cases} == {"p0", "p1", "p2"}
    kept = {case.id: case.expected for case in first.cases}
    assert (kept["import-drops-tasks"]["label"], kept["import-drops-tasks"]["priority"]) == ("bug", "p0")
    assert (kept["where-is-data"]["label"], kept["where-is-data"]["priority"]) == ("question", "p2")
    assert kept["where-is-data"]["keeps"] == ["backup"]


def test_only_a_bug_has_a_priority_above_p2():
    _, dataset = read_suite(SHIPPED).datasets.values()
    for case in dataset.cases:
        assert (case.expected["label"] == "bug") == (case.expected["priority"] != "p2"), case.id


def test_an_explanation_aligns_its_stages_however_long_their_names_are(tmp_path):
    suite = read_suite(SHIPPED)
    (cell,) = suite.select_cells("qwen-1.5b-v2", "triage-v1")
    evaluation = Evaluation("", data_root=SHIPPED.parent, warehouse_root=str(tmp_path))
    text = explain_case(evaluation, suite, cell, "token-in-debug-log")
    scores = [line for line in text.splitlines() if " passed " in line or " failed " in line]
    assert {re.search("passed|failed", line).start() for line in scores} == {32}
