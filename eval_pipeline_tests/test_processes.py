"""What only fresh processes show: Dagster's own command, and a run that is interrupted."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from eval_pipeline_tests.docs_suite import DocsSuite

pytestmark = pytest.mark.slow
BIN = Path(sys.executable).parent


@pytest.fixture
def environment(tmp_path):
    suite = DocsSuite(tmp_path)
    suite.run("new_episodes")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("DAGSTER", "EVAL_"))}
    return {
        **kept,
        "EVAL_DATA": str(suite.data_root),
        "EVAL_WAREHOUSE": str(tmp_path / "warehouse"),
        "DAGSTER_DISABLE_TELEMETRY": "yes",
    }


def run(environment, *command, cwd=None):
    return subprocess.run(
        [str(BIN / command[0]), *command[1:]], env=environment, capture_output=True, text=True, cwd=cwd
    )


def materialize_commands(environment):
    shown = run(environment, "eval-pipeline", "keys", "docs").stdout
    return re.findall(r"dagster asset materialize .* --select '(.*)' --partition '(.*)'", shown)


@pytest.mark.parametrize("home", ["fresh", "kept"])
def test_every_asset_materializes_with_dagsters_own_command(environment, tmp_path, home):
    if home == "kept":
        folder = tmp_path / "home"
        folder.mkdir()
        (folder / "dagster.yaml").write_text("telemetry: {enabled: false}\n")
        environment["DAGSTER_HOME"] = str(folder)
    commands = [
        (asset, partition)
        for select, partition in materialize_commands(environment)
        for asset in select.split(",")
    ]
    assert [asset for asset, _ in commands] == [
        f"docs/{name}" for name in ("cases", "documents", "prompts", "traces", "stage_scores", "stage_report")
    ]
    for asset, partition in commands:
        done = run(
            environment,
            *("dagster", "asset", "materialize", "-m", "eval_pipeline.definitions"),
            *("--select", asset, "--partition", partition),
            cwd=tmp_path,
        )
        assert done.returncode == 0, done.stderr[-2000:]
    stored = {
        path.relative_to(tmp_path / "warehouse").parts[0]
        for path in (tmp_path / "warehouse").rglob("*.parquet")
    }
    assert stored == {"cases", "documents", "prompts", "traces", "stage_scores", "stage_report", "runs"}


def test_a_missing_recording_fails_dagsters_command_naming_the_part(environment, tmp_path):
    prompt = Path(environment["EVAL_DATA"]) / "docs" / "prompts" / "v1.md"
    prompt.write_text(prompt.read_text().replace("three", "two"))
    select, partition = materialize_commands(environment)[-1]
    done = run(
        environment,
        *("dagster", "asset", "materialize", "-m", "eval_pipeline.definitions"),
        *("--select", select, "--partition", partition),
    )
    assert done.returncode == 1
    assert "thanks (agent): prompt changed (" in done.stdout + done.stderr


def test_ctrl_c_exits_non_zero_and_keeps_the_finished_calls(environment, tmp_path):
    suite = Path(environment["EVAL_DATA"]) / "docs"
    # The system answers at once but for one case, which waits until it is interrupted.
    (tmp_path / "slow_system.py").write_text(
        "import asyncio\n"
        "from eval_pipeline.systems import docs_assistant\n"
        "from eval_pipeline.systems.docs_assistant import TOOLS, Parameters\n"
        "class Slow:\n"
        "    def __init__(self, inner): self.inner = inner\n"
        "    async def run(self, case):\n"
        "        if case.id == 'thanks': await asyncio.sleep(60)\n"
        "        return await self.inner.run(case)\n"
        "def build(context): return Slow(docs_assistant.build(context))\n"
    )
    text = (suite / "suite.yaml").read_text()
    (suite / "suite.yaml").write_text(text.replace("eval_pipeline.systems.docs_assistant", "slow_system"))
    command = [str(BIN / "eval-pipeline"), "run", "docs"]
    process = subprocess.Popen(
        command,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    assert process.stderr is not None
    for line in process.stderr:
        if "/10 cases" in line:
            break
    time.sleep(1)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "interrupted" in err
    assert "Traceback" not in err
