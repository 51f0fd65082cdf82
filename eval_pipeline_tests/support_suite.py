"""A copy of the support agent's suite in a temporary folder, with a scripted candidate and judge."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage

from eval_pipeline.agent_runs import run_cell
from eval_pipeline.cell_scoring import score_cell
from eval_pipeline.gating.outcomes import JudgeRecord
from eval_pipeline.recordings import Mode, Recordings
from eval_pipeline.report.stage_report import StageReport, build_report
from eval_pipeline.suite_reading import find_suite
from eval_pipeline.suites import Suite
from eval_pipeline_tests.scripted import Reply, call
from eval_pipeline_tests.scripted_judge import JudgedConnector, JudgeReply, Question

SHIPPED = Path(__file__).parent.parent / "data" / "support_agent"
SCRIPTED = """\
judge: openai:judge
candidates:
  scripted:
    model: openai:scripted
    embedder: openai:scripted-embedder
    prompt: v1
    datasets: [golden]
"""
METRICS = ("relevance", "correctness", "faithfulness", "helpfulness", "hallucination_free")
GOOD = JudgeRecord(calibrated=True, defects=4, caught=4, sound=4, false_alarms=0)


def looks_up(messages: list[BaseMessage]) -> AIMessage:
    """Looks the order's delivery up, then says that it can be returned; declines without an order."""
    if any(isinstance(message, ToolMessage) for message in messages):
        return AIMessage("Yes, you can still return it.")
    question = next(message.text for message in messages if isinstance(message, HumanMessage))
    found = re.search(r"ord-\d+", question, re.IGNORECASE)
    return call("getDeliveryDate", {"order_id": f" {found[0]} "}) if found else AIMessage("I do not know.")


def guesses(messages: list[BaseMessage]) -> AIMessage:
    """Says that it can be returned, whatever is asked, and looks nothing up."""
    return AIMessage("Yes, you can still return it.")


def grades(**ratings: int) -> JudgeReply:
    """A judge that gives a 5 for every metric, but for those named."""

    def answer(question: Question) -> str:
        assert question.kind == "Scores"
        scores: dict[str, Any] = dict.fromkeys(METRICS, 5)
        return json.dumps({"reason": "As graded.", **scores, **ratings})

    return answer


class SupportSuite:
    """The suite `support_agent` below `data_root`, with its own cases, documents, orders and rubric."""

    def __init__(self, folder: Path) -> None:
        self.data_root = folder / "data"
        self.folder = self.data_root / "support_agent"
        shutil.copytree(SHIPPED, self.folder, ignore=shutil.ignore_patterns("recordings", "reports"))
        stages = (SHIPPED / "suite.yaml").read_text(encoding="utf-8").partition("\njudge:")[0]
        (self.folder / "suite.yaml").write_text(f"{stages}\n{SCRIPTED}", encoding="utf-8")

    @property
    def suite(self) -> Suite:
        return find_suite(self.data_root, "support_agent")

    def report(
        self,
        agent: Reply = looks_up,
        judge: JudgeReply | None = None,
        *,
        mode: Mode = "new_episodes",
        calibrated: bool = False,
    ) -> tuple[StageReport, JudgedConnector]:
        """Run, score and report the suite's only cell."""
        suite, connector = self.suite, JudgedConnector(judge or grades(), agent)
        (cell,) = suite.cells
        records = dict.fromkeys(METRICS, GOOD) if calibrated else {}
        open_recordings = lambda: Recordings(suite.recordings, mode)  # noqa: E731
        traces = run_cell(suite, cell, open_recordings, connector=connector)
        checks = score_cell(suite, cell, traces, open_recordings, connector=connector, records=records)
        return build_report(suite, cell, traces, checks, records), connector
