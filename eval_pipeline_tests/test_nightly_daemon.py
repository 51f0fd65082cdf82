"""The nightly schedule as it runs for real: switched on by command, run by Dagster's daemon."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from eval_pipeline_tests.boundary.suites import SECRET, write_endpoint_suite
from eval_pipeline_tests.provider_replies import Say
from eval_pipeline_tests.provider_stub import ProviderStub

pytestmark = pytest.mark.slow
BIN = Path(sys.executable).parent
WORKSPACE = ("-w", "workspace.yaml")
PATIENCE_S = 150.0
"""The first tick is up to 60 s away; loading the code and launching a run take the rest on a busy machine."""


@pytest.fixture
def stub():
    with ProviderStub(
        lambda asked: Say("An apple is red." if "apple" in asked.question else "You are welcome.")
    ) as running:
        yield running


@pytest.fixture
def project(tmp_path, stub):
    """A folder with a suite whose one candidate is marked, a workspace and a home for Dagster."""
    toy = write_endpoint_suite(tmp_path, stub.url)
    toy.edit("suite.yaml", "calm: {", "calm: {nightly: true, ")
    (tmp_path / "workspace.yaml").write_text("load_from: [{python_module: eval_pipeline.definitions}]\n")
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "dagster.yaml").write_text("telemetry: {enabled: false}\n")
    return tmp_path


@pytest.fixture
def environment(project):
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("DAGSTER", "EVAL_"))}
    return {
        **kept,
        "BOUNDARY_AUTH": SECRET,
        "NO_PROXY": "127.0.0.1",
        "DAGSTER_HOME": str(project / "home"),
        "EVAL_DATA": str(project / "data"),
        "EVAL_WAREHOUSE": str(project / "warehouse"),
        "EVAL_NIGHTLY_CRON": "* * * * *",
    }


@pytest.fixture
def daemon(project, environment):
    """Starts the daemon in a session of its own, and ends all that it started."""
    started: list[subprocess.Popen[bytes]] = []

    def start() -> subprocess.Popen[bytes]:
        with (project / "daemon.log").open("wb") as log:
            process = subprocess.Popen(
                [str(BIN / "dagster-daemon"), "run", *WORKSPACE],
                cwd=project,
                env=environment,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        started.append(process)
        return process

    yield start
    for process in started:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            pass
        try:  # the code server and a run that is under way
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait(20)


def run(project, environment, *command):
    done = subprocess.run(
        [str(BIN / command[0]), *command[1:]], cwd=project, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def reports(project):
    return sorted((project / "warehouse" / "samples").glob("*/stage_report/**/*.parquet"))


def test_the_daemon_asks_each_marked_cell_anew_and_touches_nothing_committed(
    project, environment, daemon, stub
):
    run(project, environment, "eval-pipeline", "run", "toy", "--record-mode", "new_episodes")
    before = {path: path.read_bytes() for path in (project / "data").rglob("*") if path.is_file()}
    current = {path: path.read_bytes() for path in (project / "warehouse" / "traces").rglob("*.parquet")}
    assert stub.calls == 2
    run(project, environment, "dagster", "schedule", "start", "toy_nightly", *WORKSPACE)
    process = daemon()
    give_up = time.monotonic() + PATIENCE_S
    while not reports(project) and time.monotonic() < give_up:
        assert process.poll() is None, (project / "daemon.log").read_text()
        time.sleep(1)
    assert reports(project), (project / "daemon.log").read_text()[-3000:]
    assert stub.calls >= 4  # both cases again
    assert {path: path.read_bytes() for path in before} == before
    assert {path: path.read_bytes() for path in current} == current
    # Recordings, results, logs, and Dagster's own databases of runs and events.
    files = [path for path in project.rglob("*") if path.is_file()]
    assert [path for path in files if SECRET.encode() in path.read_bytes()] == []
