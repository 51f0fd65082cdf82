import os
import subprocess
import sys
from pathlib import Path

import pytest

from eval_pipeline.cases import Case, Known
from eval_pipeline.errors import ScorerError
from eval_pipeline.scorers.deepeval import ToolCorrectness, tool_correctness
from eval_pipeline.scorers.tools import ToolCalls
from eval_pipeline.traces import AgentTrace, ToolCall


def case_expecting(tools: list[str]) -> Case:
    return Case("c", "q", expected={"tools": tools})


def trace_of(called: list[str]) -> AgentTrace:
    calls = tuple(ToolCall(name, {"query": str(i)}, "found") for i, name in enumerate(called))
    return AgentTrace("c", answer="a", tool_calls=calls)


@pytest.mark.parametrize(
    ("expected", "called", "value"),
    [
        ([], [], 1.0),
        ([], ["a"], 0.0),
        (["a"], ["a"], 1.0),
        (["a"], [], 0.0),
        (["a", "b"], ["a"], 0.5),
        (["a", "b"], ["b", "a"], 1.0),
        (["a", "a"], ["a", "a"], 1.0),
    ],
)
def test_deepeval_and_the_tools_stage_agree_here(expected, called, value) -> None:
    case, trace = case_expecting(expected), trace_of(called)

    assert ToolCorrectness().score(case, trace).value == value
    assert ToolCalls().score(case, trace).value == value


@pytest.mark.parametrize("called", [["a", "b"], ["a", "a"]])
def test_deepeval_passes_a_call_too_many_which_fails_the_tools_stage(called) -> None:
    case, trace = case_expecting(["a"]), trace_of(called)

    assert ToolCorrectness().score(case, trace).value == 1.0
    assert ToolCalls().score(case, trace).passed is False


def test_deepeval_counts_equal_calls_once_and_the_tools_stage_each_of_them() -> None:
    same = ToolCall("a", {"query": "q"}, "found")
    case, trace = case_expecting(["a", "a"]), AgentTrace("c", answer="a", tool_calls=(same, same))

    assert ToolCorrectness().score(case, trace).value == 0.5
    assert ToolCalls().score(case, trace).value == 1.0


def test_the_reason_names_what_was_compared() -> None:
    score = ToolCorrectness().score(case_expecting(["a"]), trace_of([]))

    assert score.reason == "DeepEval compared expected a with called none"


def test_an_answer_is_not_needed() -> None:
    assert ToolCorrectness().score(case_expecting([]), AgentTrace("c")).value == 1.0


def test_whatever_deepeval_raises_is_an_error_and_no_score(monkeypatch) -> None:
    monkeypatch.setattr(tool_correctness, "_measure", lambda *_: 1 / 0)

    with pytest.raises(ScorerError, match="DeepEval could not measure it: ZeroDivisionError"):
        ToolCorrectness().score(case_expecting([]), trace_of([]))


def test_the_model_that_the_metric_must_be_given_refuses_to_be_asked() -> None:
    unasked = tool_correctness._load().unasked

    with pytest.raises(ScorerError, match="asked a model"):
        unasked.generate("prompt")


@pytest.mark.parametrize(("tools", "applies"), [(None, False), ([], True), (["a"], True)])
def test_it_applies_as_the_tools_stage_does(tools, applies) -> None:
    case = Case("c", "q", expected={"tools": tools})

    assert ToolCorrectness().applies(case) is ToolCalls().applies(case) is applies


def test_a_misspelt_tool_is_a_problem() -> None:
    problems = ToolCorrectness().problems(case_expecting(["serch"]), Known(tools=frozenset(["search"])))

    assert problems == ["expected.tools: no tool 'serch'; did you mean 'search'?"]


OFFLINE = """
import socket, sys

def refuse(*_, **__):
    raise SystemExit("a socket was opened")

socket.socket.connect = socket.create_connection = socket.getaddrinfo = refuse

from eval_pipeline.scorers.deepeval import ToolCorrectness
assert "deepeval" not in sys.modules, "importing the scorer imports DeepEval"
from eval_pipeline.cases import Case
from eval_pipeline.traces import AgentTrace
print(ToolCorrectness().score(Case("c", "q", expected={"tools": []}), AgentTrace("c")).value)
"""


@pytest.mark.slow
def test_it_opens_no_socket_and_writes_no_file(tmp_path: Path) -> None:
    environment = {key: value for key, value in os.environ.items() if not key.startswith("DEEPEVAL")}
    environment["HOME"] = str(tmp_path)

    done = subprocess.run(
        [sys.executable, "-B", "-c", OFFLINE], cwd=tmp_path, env=environment, capture_output=True, text=True
    )

    assert (done.returncode, done.stdout) == (0, "1.0\n"), done.stderr
    assert list(tmp_path.rglob("*")) == []
