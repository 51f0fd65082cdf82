"""A system that is an HTTP endpoint, over real sockets: what is sent, read, recorded, retried, hidden."""

import io
import json
import logging
import re

import pytest

from eval_pipeline.agent_runs import run_cell
from eval_pipeline.errors import ProviderFault, RecordingMiss, SuiteError
from eval_pipeline.recordings import Recordings, read_entries
from eval_pipeline.suite_reading import find_suite
from eval_pipeline_tests.boundary.suites import SECRET, Asking, write_endpoint_suite
from eval_pipeline_tests.provider_replies import Drop, Empty, Hang, Raw, Say, Status
from eval_pipeline_tests.provider_stub import ProviderStub


@pytest.fixture(autouse=True)
def _environment(monkeypatch):
    monkeypatch.setenv("BOUNDARY_AUTH", SECRET)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


@pytest.fixture
def stub():
    with ProviderStub(lambda asked: Say("An apple is red.")) as running:
        yield running


@pytest.fixture
def asking(stub, tmp_path):
    return Asking(write_endpoint_suite(tmp_path, stub.url))


def test_the_template_is_sent_and_the_path_finds_the_answer(asking, stub):
    assert asking.ask().answer == "An apple is red."
    (asked,) = stub.asked
    assert asked.body == {
        "model": "m",
        "messages": [
            {"role": "system", "content": "Look the page up."},
            {"role": "user", "content": "An apple?"},
        ],
        "shout": False,
    }
    assert asked.headers["authorization"] == f"Bearer {SECRET}"
    assert asked.headers["x-version"] == "2"


def test_it_replays_with_the_endpoint_gone_and_no_key(asking, stub, monkeypatch):
    first = asking.ask()
    stub.stop()
    monkeypatch.delenv("BOUNDARY_AUTH")
    again = asking.ask(mode="none")
    assert (again.answer, again.usage.replayed) == (first.answer, 1)


def test_tool_calls_are_found_by_their_path(asking, stub):
    stub.script(Say("Red.", calls=[("look_up", {"page": "apple"}), ("thank", {})]))
    calls = asking.ask().tool_calls
    assert [(call.name, call.arguments) for call in calls] == [("look_up", {"page": "apple"}), ("thank", {})]


def test_another_path_reads_the_recorded_reply_anew_without_asking(asking, stub):
    asking.ask()
    asking.toy.edit("suite.yaml", "$.choices[0].message.content", "$.choices[0].finish_reason")
    assert asking.ask(mode="none").answer == "stop"
    assert stub.calls == 1


def test_another_host_is_the_same_question(asking, stub):
    asking.ask()
    asking.toy.edit("suite.yaml", stub.url, "https://elsewhere.example:8443")
    assert asking.ask(mode="none").answer == "An apple is red."


@pytest.mark.parametrize(
    ("name", "old", "new", "changed"),
    [
        ("prompts/v1.md", "Look", "Please look", "prompt changed"),
        ("suite.yaml", "shout: false", "shout: true", "parameters changed"),
        ("suite.yaml", "model: m", "model: n", "request template changed"),
        ("suite.yaml", "/v1/chat", "/v2/chat", "method and path changed"),
        ("suite.yaml", 'X-Version: "2"', 'X-Version: "3"', "headers changed"),
    ],
)
def test_whatever_it_is_asked_with_is_part_of_the_key(asking, name, old, new, changed):
    asking.ask()
    asking.toy.edit(name, old, new)
    with pytest.raises(RecordingMiss) as miss:
        asking.ask(mode="none")
    assert re.sub(r" \(.*\)", "", miss.value.why) == changed


def test_a_changed_input_is_named(asking):
    asking.ask()
    with pytest.raises(RecordingMiss, match=r"case input changed \("):
        asking.ask("A pear?", mode="none")


@pytest.mark.parametrize(
    "fault",
    [Status(429), Status(500), Status(503), Drop(), Raw(b"<html>busy</html>", "text/html"), Raw(b"NaN")],
    ids=["429", "500", "503", "dropped", "page", "no JSON"],
)
def test_a_passing_fault_is_tried_again_and_not_recorded(asking, stub, fault):
    stub.script(fault)
    assert asking.ask().answer == "An apple is red."
    assert (stub.calls, len(asking.time.waits)) == (2, 1)
    assert asking.recorded().count("\n") == 1


def test_it_waits_as_long_as_the_endpoint_asks(asking, stub):
    stub.script(Status(429, retry_after=7))
    asking.ask()
    assert 7 in asking.time.waits


@pytest.mark.parametrize(
    ("fault", "kind", "text"),
    [
        (Status(500, "out of order"), "http_500", "HTTP 500: EndpointError: Stub: "),
        (Drop(), "connection", "see that it runs and its address is right"),
        (Raw(b"<html>"), "malformed_body", "the reply is no JSON: "),
        (Raw(b'{"choices": [1e999]}'), "malformed_body", "inf is no JSON number"),
        (Raw(b"[" * 101 + b"]" * 101), "malformed_body", "nested more than 100 levels deep"),
        (Status(429), "http_429", "lower its max_concurrency"),
    ],
    ids=["500", "dropped", "page", "infinite", "deep", "429"],
)
def test_a_fault_that_stays_is_the_provider_s_and_leaves_nothing(asking, stub, fault, kind, text):
    stub.answer = lambda asked: fault
    error = asking.ask().error
    assert (error.source, error.kind, stub.calls) == ("provider", kind, 5)
    assert error.message.startswith("system:http: ")
    assert text in error.message
    assert "tried 5 times" in error.message
    assert asking.recorded() == ""


def test_an_endpoint_that_hangs_is_given_up_after_its_timeout(asking, stub):
    asking.toy.edit("suite.yaml", "timeout_s: 5", "timeout_s: 0.05")
    stub.answer = lambda asked: Hang()
    error = asking.ask().error
    assert (error.source, error.kind) == ("provider", "timeout")
    assert "tried 5 times" in error.message
    assert stub.calls <= 5  # on a busy machine the time is over before the endpoint is reached
    assert "no answer within 0.05 s" in error.message
    assert "raise its timeout_s" in error.message


@pytest.mark.parametrize(
    ("status", "kind", "remedy"),
    [
        (401, "http_401", "check the variables that its headers name"),
        (404, "http_404", "check the path of its url"),
        (302, "http_302", "make that the `url`"),
    ],
)
def test_a_wrong_set_up_is_told_at_once_and_not_recorded(asking, stub, status, kind, remedy):
    stub.script(Status(status))
    error = asking.ask().error
    assert (error.source, error.kind, stub.calls) == ("provider", kind, 1)
    assert remedy in error.message
    assert asking.recorded() == ""


@pytest.mark.parametrize(
    ("reply", "kind", "text"),
    [
        (Status(400, "no such tone"), "refused_request", "no such tone"),
        (Say(""), "no_answer", "$.choices[0].message.content finds nothing in the reply"),
        (Empty(), "no_answer", '"choices": []'),
        (Say("  "), "empty_answer", "the system answered nothing"),
        (Raw(b"[]"), "no_answer", "finds nothing in the reply; correct `answer`: []"),
    ],
    ids=["400", "null", "no choice", "blank", "list"],
)
def test_what_the_system_itself_does_wrong_is_recorded_and_the_same_on_replay(
    asking, stub, reply, kind, text
):
    stub.script(reply)
    for mode in ("new_episodes", "none"):
        error = asking.ask(mode=mode).error
        assert (error.source, error.kind) == ("system", kind)
        assert text in error.message
    assert (stub.calls, asking.recorded().count("\n")) == (1, 1)


def test_no_more_calls_are_in_flight_than_the_suite_allows(asking, stub):
    asking.toy.edit("suite.yaml", "timeout_s: 5", "max_concurrency: 2")
    cases = "".join(f"\n  - {{id: c{n}, input: 'Apple {n}?', expected: {{tools: []}}}}" for n in range(8))
    asking.toy.write("datasets/small.yaml", f"version: 1\ncases:{cases}\n")
    stub.latency_s = 0.05
    suite = find_suite(asking.toy.data, "toy")
    traces = run_cell(suite, suite.cells[0], lambda: Recordings(suite.recordings, "new_episodes"))
    assert {trace.answer for trace in traces} == {"An apple is red."}
    assert (stub.calls, stub.most_in_flight) == (8, 2)


def test_a_dead_endpoint_is_not_asked_for_ever(asking, stub):
    stub.stop()
    kinds = [asking.ask(f"apple {n}?").error.kind for n in range(6)]
    assert kinds == ["connection"] * 5 + ["circuit_open"]


def test_a_secret_of_a_header_is_nowhere_even_when_the_endpoint_repeats_it(asking, stub, caplog):
    caplog.set_level(logging.DEBUG)
    said = {"choices": [{"message": {"content": f"Your token is {SECRET}."}}]}
    stub.script(Raw(json.dumps(said).encode()))
    assert asking.ask().answer == "Your token is ***."
    for fault in (Status(400, f"bad token {SECRET}"), *[Status(500, f"bad token {SECRET}")] * 5):
        stub.script(fault)
    refused, failed = asking.ask("A pear?").error, asking.ask("A plum?").error
    assert "bad token ***" in refused.message
    assert "bad token ***" in failed.message
    assert SECRET not in asking.recorded() + refused.message + failed.message + caplog.text


def test_a_secret_in_the_address_is_in_no_log_error_or_recording(asking, stub, monkeypatch):
    monkeypatch.setenv("BOUNDARY_CODE", "fake-address-secret-01")
    asking.toy.edit("suite.yaml", "/completions", "/completions?code=${BOUNDARY_CODE}")
    shown = io.StringIO()
    handler = logging.StreamHandler(shown)
    root = logging.getLogger()
    before = root.level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    try:
        asking.ask()
        stub.stop()
        error = asking.ask("A pear?").error
    finally:
        root.removeHandler(handler)
        root.setLevel(before)
    assert "HTTP Request: POST" in shown.getvalue()
    assert "fake-address-secret-01" not in shown.getvalue() + error.message + asking.recorded()


def test_a_missing_variable_is_one_clear_line_before_anything_is_asked(asking, stub, monkeypatch):
    monkeypatch.delenv("BOUNDARY_AUTH")
    with pytest.raises(ProviderFault) as refusal:
        asking.ask()
    assert str(refusal.value) == (
        "no_key: system:http: set BOUNDARY_AUTH (in header Authorization), or replay with --record-mode none"
    )
    assert stub.calls == 0


def test_the_host_may_be_a_variable(asking, stub, monkeypatch):
    monkeypatch.setenv("CHAT_HOST", stub.url)
    asking.toy.edit("suite.yaml", stub.url, "${CHAT_HOST}")
    assert asking.ask().answer == "An apple is red."
    (entry,) = read_entries(asking.toy.suite / "recordings")
    assert (entry.model, entry.words) == ("system:http", "An apple?")


def test_a_template_that_names_what_the_candidate_leaves_out_is_refused(asking, stub):
    asking.toy.edit("suite.yaml", ", parameters: {shout: false}", "")
    with pytest.raises(
        SuiteError, match=r"suite.yaml:1: the request names \$parameters.shout, which the cand"
    ):
        asking.ask()
    assert stub.calls == 0


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("url: http://", "url: ftp://", "3: system.http.url: 'ftp://"),
        ("http://127", "http://me:pw@127", "3: system.http.url: the address holds a password; put it into"),
        (
            '"Bearer ${BOUNDARY_AUTH}"',
            "Bearer abc",
            "4: system.http.headers: 'Authorization' is a credential; ",
        ),
        ("$input", "$inptu", "5: system.http.request: there is no $inptu; did you mean 'input'?"),
        ("$input", "fixed", "5: system.http.request: it never names $input, so that every case"),
        ("answer: $.choices[0]", "answer: $.choices[", "11: system.http.answer: '$.choices["),
        ("    answer:", "    anwser:", "11: unknown key 'system.http.anwser'; did you mean 'answer'?"),
        (
            "  http:\n",
            "  module: x\n  http:\n",
            "1: system: name one of module, function and http, found module",
        ),
        (
            "system:\n",
            "system:\n  timeout_s: 3\n",
            "1: system: timeout_s and max_concurrency are a function's",
        ),
        ("    timeout_s: 5", "    method: GET", "2: system.http: the `request` of a GET is its query"),
    ],
)
def test_a_mistake_in_the_settings_is_named_with_its_line(asking, old, new, problem):
    asking.toy.edit("suite.yaml", old, new)
    assert any(text.startswith(f"suite.yaml:{problem}") for text in asking.toy.problems()), (
        asking.toy.problems()
    )
    assert "abc" not in str(asking.toy.problems())
