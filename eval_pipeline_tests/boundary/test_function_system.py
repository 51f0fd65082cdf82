"""A system that is one async function: recorded as a whole, asked again when anything it knows changes."""

import json
import re

import pytest

from eval_pipeline.errors import RecordingMiss, StaleDefinitionsError, SuiteError
from eval_pipeline.suite_reading import find_suite
from eval_pipeline_tests.boundary.suites import FUNCTION, Asking, write_function_suite


@pytest.fixture
def asking(tmp_path):
    return Asking(write_function_suite(tmp_path))


def asking_with(tmp_path, source):
    return Asking(write_function_suite(tmp_path, source))


def outdated(asking):
    """The miss of a replay, without the hashes."""
    with pytest.raises(RecordingMiss) as miss:
        asking.ask(mode="none")
    return re.sub(r" \([0-9a-f]{12} → [0-9a-f]{12}\)", "", miss.value.why)


def test_a_recorded_answer_replays_as_it_was(asking):
    first, again = asking.ask(), asking.ask(mode="none")
    assert first.answer == again.answer == "An apple is red."
    assert (first.tool_calls, first.retrieved[0].id) == (again.tool_calls, again.retrieved[0].id)
    assert (first.usage.called, again.usage.replayed) == (1, 1)
    assert (again.usage.input_tokens, again.usage.output_tokens) == (12, 5)


def test_replay_imports_nothing_of_the_function(asking, tmp_path):
    asking.ask()
    path = tmp_path / f"toy_system_{asking.toy.number}.py"
    raising = Asking(write_function_suite(tmp_path / "other", f"raise RuntimeError('imported')\n{FUNCTION}"))
    with pytest.raises(SuiteError, match=r"cannot be imported: .*RuntimeError: imported"):
        raising.ask()
    with pytest.raises(RecordingMiss):
        raising.ask(mode="none")
    assert path.exists()


def test_the_recording_lies_in_a_folder_of_the_function_s_name(asking):
    asking.ask()
    name = f"toy_system_{asking.toy.number}"
    (folder,) = (asking.toy.suite / "recordings").iterdir()
    assert folder.name == f"system-{name}-answer"
    (line,) = (folder / "calls.jsonl").read_text(encoding="utf-8").splitlines()
    entry = json.loads(line)
    assert (entry["model"], entry["words"]) == (f"system:{name}:answer", "An apple?")
    assert [label for label, _ in entry["parts"]] == [
        "system code",
        "prompt",
        "parameters",
        "documents",
        "fixtures",
        "case input",
    ]


@pytest.mark.parametrize(
    ("name", "old", "new", "changed"),
    [
        ("prompts/v1.md", "Look", "Please look", "prompt changed"),
        ("suite.yaml", "shout: false", "shout: true", "parameters changed"),
        ("documents/pear.md", "green", "yellow", "documents changed"),
        ("fixtures/prices.yaml", "3", "5", "fixtures changed"),
        ("suite.yaml", "calm: {", "calm: {model: openai:m, ", "model added"),
    ],
)
def test_whatever_it_is_given_is_part_of_the_key(asking, name, old, new, changed):
    asking.ask()
    asking.toy.edit(name, old, new)
    assert outdated(asking).startswith(changed)


def test_a_changed_input_is_named(asking):
    asking.ask()
    with pytest.raises(RecordingMiss, match=r"case input changed \("):
        asking.ask("A pear?", mode="none")


def test_a_function_is_told_the_seed_of_its_repeat(tmp_path):
    source = "async def answer(question, context): return f'seed {context.model.settings[\"seed\"]}'\n"
    asking = asking_with(tmp_path, source)
    asking.toy.edit("suite.yaml", "calm: {", "calm: {model: {name: openai:m, settings: {seed: 7}}, ")
    answers = [asking.ask(repeat=repeat).answer for repeat in range(3)]
    assert answers == ["seed 7", "seed 8", "seed 9"]
    assert [asking.ask(repeat=repeat, mode="none").answer for repeat in range(3)] == answers
    with pytest.raises(RecordingMiss, match=r"c \(agent, repeat 3\): .* for repeat 0, but not for this one"):
        asking.ask(repeat=3, mode="none")


def test_changed_code_is_named_also_in_a_module_that_it_imports(tmp_path):
    helper = f"bnd_helper_{tmp_path.name.replace('-', '_')}"
    (tmp_path / f"{helper}.py").write_text("TEXT = 'Red.'\n", encoding="utf-8")
    asking = asking_with(tmp_path, f"import {helper}\nasync def answer(question): return {helper}.TEXT\n")
    assert asking.ask().answer == "Red."
    (tmp_path / f"{helper}.py").write_text("TEXT = 'Blue.'\n", encoding="utf-8")
    assert outdated(asking) == "system code changed"


def test_code_edited_after_its_import_records_nothing_under_the_new_hash(asking):
    asking.ask()
    asking.toy.edit_module("system", "You are welcome.", "Not at all.")
    with pytest.raises(StaleDefinitionsError, match="has changed since this process imported it"):
        asking.ask("A pear?")


def test_an_input_may_be_any_json_and_a_function_cannot_change_the_case(tmp_path):
    asking = asking_with(tmp_path, "async def answer(given): return ' '.join(given.pop('words'))\n")
    question = {"words": ["a", "b"]}
    assert asking.ask(question).answer == "a b"
    assert question == {"words": ["a", "b"]}
    assert asking.ask({"words": ["a", "b"]}, mode="none").answer == "a b"


@pytest.mark.parametrize(
    ("body", "kind", "message"),
    [
        ("raise ValueError('bug')", "raised", "ValueError: bug"),
        ("raise KeyError('OPENAI_API_KEY')", "raised", "KeyError: 'OPENAI_API_KEY'"),
        ("open('/no/such')", "raised", "FileNotFoundError: [Errno 2] No such file or directory: '/no/such'"),
        (
            "import json; json.loads('<')",
            "raised",
            "JSONDecodeError: Expecting value: line 1 column 1 (char 0)",
        ),
        ("raise SystemExit(3)", "raised", "SystemExit: 3"),
        (
            "import asyncio; asyncio.current_task().cancel(); await asyncio.sleep(0)",
            "raised",
            "cancelled itself",
        ),
        ("raise ValueError('x' * 5_000_000)", "raised", "x… (4,998,012 more characters)"),
        ("return ''", "empty_answer", "the system answered nothing"),
        (
            "return 42",
            "malformed_answer",
            "returned int; return text, a dict with `answer`, or an AgentTrace",
        ),
    ],
)
def test_its_own_failure_is_recorded_and_the_same_on_replay(tmp_path, body, kind, message):
    asking = asking_with(tmp_path, f"async def answer(question):\n    {body}\n")
    for mode in ("new_episodes", "none"):
        error = asking.ask(mode=mode).error
        assert (error.source, error.kind) == ("system", kind)
        assert error.message.endswith(message)
    assert asking.time.waits == []


FLAKY = """
import httpx
CALLS = []
async def answer(question):
    CALLS.append(question)
    if len(CALLS) < {fails}:
        {fault}
    return "Red."
"""


@pytest.mark.parametrize(
    "fault",
    [
        "raise ConnectionError('gone')",
        "raise httpx.ReadTimeout('slow')",
        "httpx.Response(503, request=httpx.Request('GET', 'http://h/')).raise_for_status()",
    ],
)
def test_a_fault_of_what_it_asks_is_tried_again_and_not_recorded(tmp_path, fault):
    asking = asking_with(tmp_path, FLAKY.format(fails=3, fault=fault))
    assert asking.ask().answer == "Red."
    assert len(asking.time.waits) == 2
    assert asking.recorded().count("\n") == 1


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        ("raise ConnectionError('gone')", "connection"),
        ("httpx.Response(401, request=httpx.Request('GET', 'http://h/')).raise_for_status()", "http_401"),
    ],
)
def test_a_fault_that_stays_is_the_provider_s_and_leaves_nothing(tmp_path, fault, kind):
    asking = asking_with(tmp_path, FLAKY.format(fails=99, fault=fault))
    error = asking.ask().error
    assert (error.source, error.kind) == ("provider", kind)
    assert asking.recorded() == ""


def test_a_call_that_takes_too_long_is_given_up(tmp_path):
    asking = asking_with(tmp_path, "import asyncio\nasync def answer(question): await asyncio.sleep(60)\n")
    name = f"toy_system_{asking.toy.number}:answer"
    asking.toy.edit("suite.yaml", name, f"{{function: {name}, timeout_s: 0.01}}")
    error = asking.ask().error
    assert (error.source, error.kind) == ("provider", "timeout")
    assert "no answer within 0.01 s" in error.message
    assert "tried 5 times" in error.message


def test_a_key_in_the_environment_never_enters_the_recording(tmp_path, monkeypatch):
    monkeypatch.setenv("SOME_API_KEY", "fake-key-of-someone-01")
    asking = asking_with(
        tmp_path, "import os\nasync def answer(question): return 'key ' + os.environ['SOME_API_KEY']\n"
    )
    assert asking.ask().answer == "key ***"
    assert "fake-key" not in asking.recorded()


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        ("def answer(question): ...", "'answer' is not async; write `async def answer(input)`"),
        (
            "async def reply(question): ...",
            "the module has no 'answer'; write `async def answer(input)` in it",
        ),
    ],
)
def test_a_function_that_cannot_be_one_is_refused_when_the_suite_is_read(tmp_path, source, problem):
    toy = write_function_suite(tmp_path, source)
    assert toy.problems() == [f"suite.yaml:1: system 'toy_system_{toy.number}:answer': {problem}"]


def test_a_name_that_turns_out_to_be_no_async_function_is_refused_before_the_first_case(tmp_path):
    asking = asking_with(tmp_path, "answer = str.upper\n")
    with pytest.raises(SuiteError, match="'answer' is no async function"):
        asking.ask()


@pytest.mark.parametrize(
    "source",
    [
        "class Agent:\n    async def __call__(self, question): return 'Red.'\nanswer = Agent()\n",
        "import functools\nasync def of(colour, question): return colour\n"
        "answer = functools.partial(of, 'Red.')\n",
        "import functools\nasync def of(question): return 'Red.'\n"
        "@functools.wraps(of)\ndef answer(question): return of(question)\n",
        "async def answer(question, *, retries=3): return 'Red.'\n",
        "async def answer(*given): return 'Red.' if len(given) == 2 else 'no context'\n",
    ],
    ids=["object", "partial", "wrapped", "keyword", "any arguments"],
)
def test_anything_awaitable_with_an_input_is_a_function(tmp_path, source):
    assert asking_with(tmp_path, source).ask().answer == "Red."


def test_a_misspelt_tool_is_found_by_the_module_s_literal_tools(asking):
    asking.toy.edit("datasets/small.yaml", "[look_up]", "[lok_up]")
    assert "did you mean 'look_up'" in asking.toy.problems()[0]


def test_a_candidate_of_a_function_needs_no_model(asking):
    suite = find_suite(asking.toy.data, "toy")
    assert [candidate.model for candidate in suite.candidates.values()] == [None]


def test_a_function_may_say_itself_that_its_provider_failed(tmp_path):
    asking = asking_with(
        tmp_path,
        "from eval_pipeline.errors import ProviderFault\n"
        "async def answer(question): raise ProviderFault('no_quota', 'the month is over')\n",
    )
    error = asking.ask().error
    assert (error.source, error.kind) == ("provider", "no_quota")
