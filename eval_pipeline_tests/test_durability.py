"""What a recording keeps that was killed, doubled, interrupted, or ran out of disk: all that was answered."""

from __future__ import annotations

import random
import signal
import subprocess
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from eval_pipeline.recordings import TornJournalWarning, check_recordings, read_entries
from eval_pipeline_tests.live_suite import IN_FLIGHT, RECORD, LiveSuite, asks, search_then_repeat
from eval_pipeline_tests.provider_replies import Reply, Say
from eval_pipeline_tests.provider_stub import Asked, ProviderStub
from eval_pipeline_tests.scripted_judge import Question, approve

pytestmark = pytest.mark.slow
KILLS = 10
CASES = 40


@pytest.fixture
def stub() -> Iterator[ProviderStub]:
    with ProviderStub(search_then_repeat, latency_s=0.1) as running:
        yield running


def wait_for(condition: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    """Wait until the process has come so far, or is over."""
    deadline = time.monotonic() + 180
    while not condition() and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.005)


def settle(stub: ProviderStub) -> None:
    """Wait until the stub is done with what a killed process had asked."""
    while stub.in_flight:
        time.sleep(0.01)


def kill(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.communicate()


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The report of a recording that nothing happened to; where the model is reached is no part of it."""
    with ProviderStub(search_then_repeat) as stub:
        suite = LiveSuite(tmp_path_factory.mktemp("undisturbed"), stub, CASES)
        done = suite.command(*RECORD)
    assert done.returncode == 0, done.stderr
    return suite.report()


@pytest.fixture
def recorded_with_tears() -> Iterator[None]:
    """A line that a kill cut off is warned of when it is read, and was never used."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TornJournalWarning)
        yield


def assert_whole(suite: LiveSuite) -> None:
    """No torn file, nothing missing, nothing unused; and no journal or half of a file left over."""
    assert check_recordings(suite.recordings) == []
    checked = suite.command("check", "docs")
    assert (checked.returncode, checked.stdout) == (0, "docs: ok\n"), checked.stdout + checked.stderr
    names = {path.name for path in suite.recordings.glob("*/*")}
    assert names - {".lock"} == {"calls.jsonl", "embeddings.jsonl"}


@pytest.mark.usefixtures("recorded_with_tears")
def test_ten_kills_repeat_no_journaled_call_and_change_no_result(
    tmp_path: Path, stub: ProviderStub, undisturbed: str
):
    chance = random.Random(4)
    suite = LiveSuite(tmp_path, stub, CASES)
    seen: Counter[str] = Counter()
    in_flight_at_kills, finished = 0, 0
    for _ in range(KILLS):
        journaled, before = suite.recorded(), stub.calls
        process = suite.start(*RECORD)
        wait_for(lambda before=before: stub.calls > before, process)
        time.sleep(chance.uniform(0, 0.5))
        kill(process)
        finished += process.returncode == 0
        settle(stub)
        asked = [one for request in stub.asked[before:] for one in asks(request)]
        assert not journaled & set(asked), "a journaled call was made again"
        seen.update(asked)
        lost = set(asked) - suite.recorded()
        in_flight_at_kills += len(lost)
        # The pages, embedded in one call, count one by one; of chats the pool lets no more through.
        chats = [one for one in lost if one.startswith("chat ")]
        assert len(chats) <= IN_FLIGHT
    assert not finished, "the kills came too late to tell anything"
    before, journaled = stub.calls, suite.recorded()
    done = suite.command(*RECORD)
    assert done.returncode == 0, done.stderr
    asked = [one for request in stub.asked[before:] for one in asks(request)]
    assert asked
    assert not journaled & set(asked)
    seen.update(asked)
    assert set(seen) == suite.recorded()
    repeats = sum(seen.values()) - len(seen)
    assert repeats <= in_flight_at_kills
    assert_whole(suite)
    assert suite.report() == undisturbed


@pytest.mark.usefixtures("recorded_with_tears")
def test_two_record_the_same_at_once_and_one_is_killed(tmp_path: Path, stub: ProviderStub, undisturbed: str):
    suite = LiveSuite(tmp_path, stub, CASES)
    processes = [suite.start(*RECORD) for _ in range(2)]
    killed, other = processes
    wait_for(lambda: stub.calls > 20, killed)
    kill(killed)
    _, err = other.communicate(timeout=120)
    assert other.returncode == 0, err
    before = stub.calls
    done = suite.command(*RECORD)
    assert (done.returncode, stub.calls) == (0, before), done.stderr
    assert_whole(suite)
    assert suite.report() == undisturbed


def test_ctrl_c_while_agents_run_exits_130_and_repeats_nothing_answered(
    tmp_path: Path, stub: ProviderStub, undisturbed: str
):
    suite = LiveSuite(tmp_path, stub, CASES)
    process = suite.start(*RECORD)
    wait_for(lambda: stub.calls > 20, process)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert "interrupted; the calls that were answered are kept: run the same command to go on" in err
    assert "Traceback" not in err
    settle(stub)
    journaled, before = suite.recorded(), stub.calls
    assert journaled
    done = suite.command(*RECORD)
    assert done.returncode == 0, done.stderr
    asked = [one for request in stub.asked[before:] for one in asks(request)]
    assert asked
    assert not journaled & set(asked)
    assert_whole(suite)
    assert suite.report() == undisturbed


JUDGED = """
  - {{name: answer_relevancy, scorer: "eval_pipeline.scorers.deepeval:AnswerRelevancy", gating: never}}
judge: {{name: "openai:judge", base_url: "{url}", max_concurrency: {in_flight}}}
"""


def answer_or_judge(asked: Asked) -> Reply:
    """As the agent's model; the judge approves of everything."""
    if asked.model != "judge":
        return search_then_repeat(asked)
    schema = asked.body["response_format"]["json_schema"]
    verdicts = schema["schema"]["properties"].get("verdicts", {})
    return Say(approve(Question(schema["name"], asked.question, verdicts.get("minItems"))))


@pytest.mark.parametrize("beside_agents", [True, False], ids=["beside agents", "of stored traces"])
def test_ctrl_c_while_the_judge_is_asked_exits_130_and_repeats_nothing_answered(
    tmp_path: Path, stub: ProviderStub, beside_agents: bool
):
    stub.answer = answer_or_judge
    suite = LiveSuite(tmp_path, stub, CASES)
    if not beside_agents:  # else the judge is asked as soon as an agent's trace is there
        assert suite.command(*RECORD).returncode == 0
        stub.asked.clear()
    declared = suite.folder / "suite.yaml"
    judged = JUDGED.format(url=stub.base_url("openai"), in_flight=IN_FLIGHT)
    declared.write_text(declared.read_text().rstrip() + judged)

    def judged_so_far() -> int:
        return sum(asked.model == "judge" for asked in stub.asked)

    def recorded_chats() -> int:
        return sum(entry.kind == "chat" for entry in read_entries(suite.recordings))

    process = suite.start(*RECORD)
    wait_for(lambda: judged_so_far() > 20, process)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert "interrupted; the calls that were answered are kept: run the same command to go on" in err
    assert "Traceback" not in err
    settle(stub)
    agents = sum(asked.kind == "chat" and asked.model != "judge" for asked in stub.asked)
    assert (agents > 0) == beside_agents
    kept, before = recorded_chats(), stub.calls
    assert kept > 20
    done = suite.command(*RECORD)
    assert done.returncode == 0, done.stderr
    asked = sum(asked.kind == "chat" for asked in stub.asked[before:])
    assert 0 < asked == recorded_chats() - kept
    assert_whole(suite)


@contextmanager
def small_disk(place: Path, size: str) -> Iterator[Path]:
    """A file system of its own at `place`, with little room."""
    place.mkdir(parents=True, exist_ok=True)
    try:
        subprocess.run(
            ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(place)],
            check=True,
            capture_output=True,
        )
    except (OSError, subprocess.CalledProcessError) as refusal:
        pytest.skip(f"a small disk can't be mounted here: {refusal}")
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


def fill(disk: Path, *, leave: int) -> Path:
    """A file that takes all the room of a disk but `leave` bytes."""
    filler = disk / ".filler"
    content = b"x" * 4096
    with filler.open("wb", buffering=0) as file:
        try:
            while file.write(content) == len(content):
                pass
        except OSError:
            pass
        file.truncate(max(0, file.tell() - leave))
    return filler


@pytest.mark.usefixtures("recorded_with_tears")
def test_a_full_disk_below_the_recordings_says_so_and_loses_nothing(tmp_path: Path, stub: ProviderStub):
    suite = LiveSuite(tmp_path, stub, CASES)
    with small_disk(suite.recordings, "1m"):
        assert suite.command(*RECORD).returncode == 0
        older, report = suite.recorded(), suite.report()
        suite.edit("prompts/v1.md", "three", "two")
        filler = fill(suite.recordings, leave=8192)
        done = suite.command(*RECORD)
        assert done.returncode == 4, done.stderr
        assert f"{suite.recordings}/" in done.stderr
        assert "No space left on device" in done.stderr
        assert "make room and" in done.stderr
        assert "Traceback" not in done.stderr
        assert len(done.stderr.split("error: ")[-1].splitlines()) == 1
        # The older results are as they were, and are read by the same commands.
        assert report == suite.report()
        suite.edit("prompts/v1.md", "two", "three")
        for command in (("run", "docs"), ("report", "docs", "--candidate", "live")):
            read = suite.command(*command)
            assert read.returncode == 0, read.stdout + read.stderr
        assert older <= suite.recorded()
        suite.edit("prompts/v1.md", "three", "two")
        filler.unlink()
        before = stub.calls
        done = suite.command(*RECORD)
        assert done.returncode == 0, done.stderr
        # What fitted into the journal before the disk was full is not asked again.
        assert stub.calls - before < 2 * len(suite.questions)
        assert check_recordings(suite.recordings) == []


def test_a_full_disk_below_the_warehouse_says_so_and_leaves_older_results(tmp_path: Path, stub: ProviderStub):
    suite = LiveSuite(tmp_path, stub, CASES)
    with small_disk(tmp_path / "warehouse", "4m") as disk:
        assert suite.command(*RECORD).returncode == 0
        report = suite.report()
        suite.edit("prompts/v1.md", "three", "two")
        filler, before = fill(disk, leave=0), stub.calls
        done = suite.command(*RECORD)
        assert done.returncode == 4, done.stderr
        assert stub.calls == before  # what is stored first found no room, before a model was asked
        assert f"{disk}/" in done.stderr
        assert "No space left on device; " in done.stderr
        assert "EVAL_WAREHOUSE names another place" in done.stderr
        assert "Traceback" not in done.stderr
        assert suite.report() == report
        read = suite.command("sql", "select count(*) as cases from traces")
        assert read.returncode == 0
        assert str(CASES) in read.stdout
        filler.unlink()
        done = suite.command(*RECORD)
        assert done.returncode == 0, done.stderr
