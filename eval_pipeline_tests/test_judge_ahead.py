"""The judge is asked while agents still run: no case waits for another's, and nothing is asked twice."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from eval_pipeline.agent_runs import run_cell
from eval_pipeline.cases import Case
from eval_pipeline.cell_scoring import score_cell
from eval_pipeline.errors import ProviderFault
from eval_pipeline.evaluation import Evaluation
from eval_pipeline.judge_ahead import judging_ahead
from eval_pipeline.models.run_calls import RunCalls
from eval_pipeline.recordings import Recordings
from eval_pipeline.scores import CheckResult
from eval_pipeline.suites import Suite
from eval_pipeline.traces import AgentTrace
from eval_pipeline_tests.judged_suite import JudgedSuite
from eval_pipeline_tests.scripted_judge import JudgedConnector, Question, approve
from eval_pipeline_tests.test_judge_runs import marked_suite

LONGEST_S = 20.0
"""What waits longer waits for something that never comes."""
Agent = Callable[[Case], Awaitable[None]]


async def at_once(case: Case) -> None:
    """An agent that takes no time."""


@dataclasses.dataclass
class Scripted:
    """A suite of two cases whose agent and judge do what a test says before they answer."""

    folder: Path
    agent: Agent = at_once
    judge: Callable[[Question], str] = approve
    calls: RunCalls = dataclasses.field(default_factory=RunCalls)

    def __post_init__(self) -> None:
        suite, traces = marked_suite(self.folder, 2)
        answers = {trace.case_id: trace for trace in traces}
        agent = self.agent

        class System:
            async def run(self, case: Case) -> AgentTrace:
                await asyncio.wait_for(agent(case), LONGEST_S)
                return answers[case.id]

        spec = dataclasses.replace(suite.system, build=lambda context: System())
        self.suite: Suite = dataclasses.replace(suite, system=spec)
        self.connector = JudgedConnector(self.judge)

    def open_recordings(self) -> Recordings:
        return Recordings(self.suite.recordings, "new_episodes")

    def run(self) -> list[AgentTrace]:
        cell = self.suite.cells[0]
        return run_cell(
            self.suite,
            cell,
            self.open_recordings,
            connector=self.connector,
            calls=self.calls,
            open_hook=judging_ahead(self.suite, cell, self.connector, self.calls),
        )

    def score(self, traces: list[AgentTrace]) -> list[CheckResult]:
        cell = self.suite.cells[0]
        return score_cell(
            self.suite, cell, traces, self.open_recordings, connector=self.connector, calls=self.calls
        )


def test_the_judge_of_one_case_is_asked_while_the_agent_of_another_runs(tmp_path):
    judged = asyncio.Event()

    async def second_waits_for_the_judge(case: Case) -> None:
        if case.id == "case-1":
            await judged.wait()

    def tell(question: Question) -> str:
        judged.set()
        return approve(question)

    traces = Scripted(tmp_path, second_waits_for_the_judge, tell).run()
    assert [trace.error for trace in traces] == [None, None]


def test_a_judge_that_hangs_holds_no_other_case_back(tmp_path, monkeypatch):
    agents_done = asyncio.Event()
    finished: list[str] = []

    async def count(case: Case) -> None:
        await asyncio.sleep(0.01 * (case.id == "case-1"))
        finished.append(case.id)
        if len(finished) == 2:
            agents_done.set()

    scripted = Scripted(tmp_path, count)
    make = scripted.connector.chat

    def hanging(settings):
        model = make(settings)
        answer = type(model)._agenerate

        class Hanging(type(model)):
            async def _agenerate(self, messages, *more, **options):
                await asyncio.wait_for(agents_done.wait(), LONGEST_S)
                return await answer(self, messages, *more, **options)

        return Hanging(answer=model.answer, asked=model.asked, settings=settings)

    monkeypatch.setattr(scripted.connector, "chat", hanging)
    assert [check.outcome for check in scripted.score(scripted.run())] == ["passed"] * 4


def test_scoring_finds_every_reply_and_counts_its_call_once(tmp_path):
    scripted = Scripted(tmp_path)
    traces = scripted.run()
    # Faithfulness asks for truths, claims and verdicts, relevancy for statements and verdicts, and each for
    # its reason: at least five calls a case, whatever DeepEval leaves out.
    asked = len(scripted.connector.judged)
    assert asked >= 2 * 5
    checks = scripted.score(traces)
    assert len(scripted.connector.judged) == asked
    assert sum(check.called for check in checks) == asked
    again = Scripted(tmp_path, calls=RunCalls())
    assert sum(check.called for check in again.score(again.run())) == 0
    assert again.connector.judged == []


def test_what_the_judge_fails_at_is_no_trace_s_error_and_scoring_reports_it(tmp_path):
    def fails(question: Question) -> str:
        if question.mark == "mark-0":
            raise ProviderFault("no_answer", "gone")
        return approve(question)

    scripted = Scripted(tmp_path, judge=fails)
    traces = scripted.run()
    assert [trace.error for trace in traces] == [None, None]
    outcomes = [(check.case_id, check.outcome, check.error_source) for check in scripted.score(traces)]
    assert outcomes == [("case-0", "error", "provider")] * 2 + [("case-1", "passed", None)] * 2


@pytest.mark.parametrize("mode", ["new_episodes", "all"])
def test_both_steps_of_a_run_share_what_is_recorded(tmp_path, mode):
    suite = JudgedSuite(tmp_path, calibration="")
    connector = JudgedConnector()
    run = Evaluation("run", suite.data_root, str(tmp_path / "warehouse"), mode, connector=connector)
    (cell,) = suite.suite.cells
    run.store_traces(cell)
    asked = list(connector.judged)
    assert asked
    stored = run.store_scores(cell)
    assert connector.judged == asked
    assert stored.numbers["judge_called"] == len(asked)
