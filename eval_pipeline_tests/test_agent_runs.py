"""Running all cases of a cell: one bad case is that case's, and a miss is never swallowed."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage

from eval_pipeline.agent_runs import run_case, run_cell
from eval_pipeline.cases import Case, Run
from eval_pipeline.errors import (
    ProviderFault,
    RecordingFileError,
    RecordingMiss,
    RecordingMisses,
    SuiteError,
)
from eval_pipeline.model_settings import ModelSettings
from eval_pipeline.models import Models
from eval_pipeline.recordings import Recordings
from eval_pipeline.suite_reading import find_suite
from eval_pipeline.traces import AgentTrace, RetrievedDocument, ToolCall
from eval_pipeline_tests.docs_suite import DocsSuite
from eval_pipeline_tests.scripted import ScriptedConnector, docs_reply


@dataclass(frozen=True)
class Does:
    """A system that does one thing."""

    what: Any

    async def run(self, case):
        return await self.what(case)


def test_what_a_system_raises_becomes_the_traces_error():
    async def raises(case):
        raise ValueError("bug")

    trace = asyncio.run(run_case(Does(raises), Case("c", "?"))).trace
    assert (trace.error.source, trace.error.kind, trace.error.message) == (
        "system",
        "raised",
        "ValueError: bug",
    )


def test_a_provider_fault_is_the_providers():
    async def raises(case):
        raise ProviderFault("http_503", "overloaded")

    trace = asyncio.run(run_case(Does(raises), Case("c", "?"))).trace
    assert (trace.error.source, trace.error.kind) == ("provider", "http_503")


def test_a_swallowed_miss_is_raised_all_the_same(tmp_path):
    model = Models(ModelSettings(name="openai:m"), None, Recordings(tmp_path), ScriptedConnector()).chat()

    async def swallows(case):
        try:
            await model.ainvoke("Hi")
        except RecordingMiss as miss:
            return AgentTrace(case.id, answer=f"Sorry: {miss}")

    with pytest.raises(RecordingMiss, match="c \\(agent\\): nothing recorded"):
        asyncio.run(run_case(Does(swallows), Case("c", "?")))


def test_a_system_that_gives_no_trace_is_an_error_of_its_own():
    async def nothing(case):
        return None

    trace = asyncio.run(run_case(Does(nothing), Case("c", "?"))).trace
    assert (trace.error.source, trace.error.kind) == ("system", "raised")


def test_one_bad_case_leaves_the_others_as_they_are(tmp_path):
    suite = DocsSuite(tmp_path)
    good = {trace.case_id: trace.answer for trace in suite.run("new_episodes")}

    def reply(messages):
        question = next(m for m in messages if isinstance(m, HumanMessage)).text
        if "archived" in question:
            raise RuntimeError("out of luck")
        return docs_reply(messages)

    other = DocsSuite(tmp_path / "other")
    traces = {trace.case_id: trace for trace in other.run("new_episodes", ScriptedConnector(reply))}
    assert traces["restore"].error.source == "provider"
    assert {id: trace.answer for id, trace in traces.items() if id != "restore"} == {
        id: answer for id, answer in good.items() if id != "restore"
    }


def test_all_missing_cases_are_listed_in_the_order_of_the_dataset(tmp_path):
    suite = DocsSuite(tmp_path)
    suite.run("new_episodes")
    suite.edit("prompts/v1.md", "three", "two")
    found = find_suite(suite.data_root, "docs")
    with pytest.raises(RecordingMisses) as caught:
        suite.run("none")
    (cell,) = found.cells
    order = [case.id for case in found.datasets[cell.dataset].cases]
    assert [miss.case_id for miss in caught.value.misses] == order


def test_cases_that_lost_the_race_to_record_run_on_the_winners_answers(tmp_path):
    suite = DocsSuite(tmp_path)
    found = find_suite(suite.data_root, "docs")
    (cell,) = found.cells
    opened = []

    def open_recordings():
        recordings = Recordings(found.recordings, "new_episodes")
        opened.append(recordings)
        if len(opened) == 1:
            # Another process records the thank-you first, while this one is under way.
            original = recordings.close

            def close():
                def reply(messages):
                    message = docs_reply(messages)
                    return type(message)("Bye!") if message.text == "You are welcome!" else message

                run_cell(
                    found,
                    cell,
                    lambda: Recordings(found.recordings, "new_episodes"),
                    connector=ScriptedConnector(reply),
                )
                return original()

            recordings.close = close
        return recordings

    traces = {t.case_id: t for t in run_cell(found, cell, open_recordings, connector=ScriptedConnector())}
    replayed = {t.case_id: t for t in run_cell(found, cell, lambda: Recordings(found.recordings))}
    assert traces["thanks"].answer == replayed["thanks"].answer


def test_each_repeat_is_a_run_with_answers_of_its_own(tmp_path):
    found = find_suite(DocsSuite(tmp_path).data_root, "docs")
    (cell,) = found.cells
    thanks = next(case for case in found.datasets[cell.dataset].cases if case.id == "thanks")
    replies = iter(["One.", "Two.", "Three."])
    connector = ScriptedConnector(lambda messages: AIMessage(next(replies)))

    def run(*repeats, mode="new_episodes"):
        runs = [Run(thanks, repeat) for repeat in repeats]
        traces = run_cell(
            found, cell, lambda: Recordings(found.recordings, mode), runs=runs, connector=connector
        )
        return [(trace.case_id, trace.repeat, trace.answer) for trace in traces]

    assert run(0) == [("thanks", 0, "One.")]
    # Only the repeat that is missing asks; in which order the runs are named changes no answer.
    assert run(1, 0) == [("thanks", 1, "Two."), ("thanks", 0, "One.")]
    assert run(0, 1, mode="none") == [("thanks", 0, "One."), ("thanks", 1, "Two.")]
    assert len(connector.chats) == 2


def test_no_runs_open_nothing(tmp_path):
    found = find_suite(DocsSuite(tmp_path).data_root, "docs")

    def open_recordings():
        raise AssertionError("there was nothing to run")

    assert run_cell(found, found.cells[0], open_recordings, runs=[]) == []


def _cancels_itself(case):
    raise asyncio.CancelledError


def _calls(**fields):
    return lambda case: AgentTrace(case.id, tool_calls=(ToolCall(**{"name": "t", **fields}),))


@pytest.mark.parametrize(
    ("answers", "says"),
    [
        (lambda case: AgentTrace(case.id, answer=123), "TypeError: answer is int 123; give text or None"),
        (lambda case: AgentTrace(case.id, context=(1,)), "TypeError: context holds int 1; give str only"),
        (
            _calls(arguments={}, output=None),
            "TypeError: tool_calls has output NoneType None; give text",
        ),
        (
            _calls(arguments={}, output="", round=2**53 + 1),
            "TypeError: tool_calls has round 9007199254740993; give a whole number to 9,007,199,254,740,992",
        ),
        (
            lambda case: AgentTrace(case.id, retrieved=(RetrievedDocument("p", 1, None, "", -1),)),
            "TypeError: score of retrieved is NoneType 'None'; give a number",
        ),
        (
            lambda case: AgentTrace(case.id, latency_ms=float("nan")),
            "TypeError: latency_ms is nan; give milliseconds",
        ),
        (
            lambda case: AgentTrace(case.id, latency_ms=1e308),
            "TypeError: latency_ms is 1e+308; give milliseconds",
        ),
        (
            _calls(arguments={1: 2}, output=""),
            "TypeError: EvalError: arguments of t: key 1 is not text; JSON has text keys only",
        ),
        (lambda case: exec("raise SystemExit(3)"), "SystemExit: 3"),
        (
            _cancels_itself,
            "CancelledError: the system cancelled itself",
        ),
    ],
    ids=[
        "answer",
        "context",
        "output",
        "round",
        "score",
        "latency",
        "latency-sum",
        "keys",
        "exit",
        "cancelled",
    ],
)
def test_a_system_of_the_wrong_shape_is_an_error_of_its_case(answers, says):
    async def run(case):
        return answers(case)

    trace = asyncio.run(run_case(Does(run), Case("c", "?"))).trace
    assert (trace.error.source, trace.error.kind, trace.error.message) == ("system", "raised", says)


@pytest.mark.parametrize("harm", ["torn", "binary", "conflict"])
def test_a_broken_recording_ends_the_run_and_is_no_outcome_of_a_case(tmp_path, harm):
    suite = DocsSuite(tmp_path)
    suite.run("new_episodes")
    (file,) = suite.folder.glob("recordings/openai-scripted/calls.jsonl")
    whole = file.read_bytes()
    broken = {"torn": whole[:-20], "binary": b"\xff\xfe\x00" + whole, "conflict": b"<<<<<<< HEAD\n" + whole}
    file.write_bytes(broken[harm])
    with pytest.raises(RecordingFileError, match=r"calls\.jsonl:\d+"):
        suite.run("none")


def test_a_build_that_raises_is_named_with_its_place(tmp_path, monkeypatch):
    def build(context):
        raise NameError("name 'undefined_name' is not defined")

    suite = DocsSuite(tmp_path)
    monkeypatch.setattr("eval_pipeline.systems.docs_assistant.build", build)
    with pytest.raises(
        SuiteError, match=r"docs: build\(\) of system .* raised: .*test_agent_runs\.py:\d+: NameError"
    ):
        suite.run("none")
