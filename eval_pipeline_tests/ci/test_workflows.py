"""The workflows are valid, and only the one that maintainers start is given keys."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parent.parent.parent
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def test_the_workflows_pass_actionlint():
    actionlint = shutil.which("actionlint", path=str(Path(sys.executable).parent))
    assert actionlint, "actionlint is not installed; install the dev dependencies"
    done = subprocess.run([actionlint, *map(str, WORKFLOWS)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_the_gate_has_no_key():
    text = (ROOT / ".github" / "workflows" / "eval-gate.yml").read_text(encoding="utf-8")
    assert "secrets." not in text
    assert "_API_KEY" not in text


def test_recording_is_started_by_hand_alone():
    # YAML 1.1 reads the bare key `on` as true.
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "record.yml").read_text(encoding="utf-8"))
    assert list(workflow[True]) == ["workflow_dispatch"]


@pytest.mark.parametrize("name", ["eval-gate.sh", "comment.sh", "record.sh"])
def test_a_script_can_be_run_and_parsed(name):
    script = ROOT / ".github" / "scripts" / name
    assert script.stat().st_mode & 0o111
    subprocess.run(["bash", "-n", str(script)], check=True)
