"""The gate's own shell steps, run in a temporary git repository with a main and a branch."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from eval_pipeline.baselines import plan_promotion
from eval_pipeline.cell_outcomes import cell_outcomes
from eval_pipeline.cell_scoring import score_cell
from eval_pipeline.recordings import Recordings
from eval_pipeline.report.stage_report import build_report
from eval_pipeline_tests.docs_suite import DocsSuite
from eval_pipeline_tests.scripted import AIMessage, ScriptedConnector

ROOT = Path(__file__).parent.parent.parent
SCRIPTS = ROOT / ".github" / "scripts"
CASES = ("backup", "issue-231", "thanks")
POLICY = "min_pass_rate: 0.5\n"

pytestmark = pytest.mark.slow


def git(folder: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=Tester", "-c", "user.email=tester@example.com"]
    done = subprocess.run(
        ["git", "-C", str(folder), *identity, *arguments], capture_output=True, text=True, check=True
    )
    return done.stdout


class Branch(DocsSuite):
    """A checkout of the branch `change`, to edit and to gate."""

    def __init__(self, folder: Path) -> None:
        self.root = folder
        self.data_root = folder / "data"
        self.folder = self.data_root / "docs"

    def commit(self) -> None:
        git(self.root, "add", "--all")
        git(self.root, "commit", "--quiet", "--message", "Change")

    def gate(self, limit: int = 65_000) -> tuple[int, str]:
        """What the job's step exits with, and the comment it writes, in at most so many bytes."""
        self.commit()
        (self.root / "step-summary.md").unlink(missing_ok=True)
        environment = {name: value for name, value in os.environ.items() if "API_KEY" not in name}
        environment |= {
            "PATH": f"{Path(sys.executable).parent}:{environment['PATH']}",
            "PYTHONPATH": str(ROOT),
            "BASE": "main",
            "BYTES": str(limit),
            "GATES": "docs scripted docs-assistant\n",
            "EVAL_WAREHOUSE": str(self.root / "warehouse"),
            "GITHUB_STEP_SUMMARY": str(self.root / "step-summary.md"),
        }
        for name in ("EVAL_DATA", "DAGSTER_HOME", "EVAL_RECORD_MODE"):
            environment.pop(name, None)
        done = subprocess.run(
            [str(SCRIPTS / "eval-gate.sh")], cwd=self.root, env=environment, capture_output=True, check=False
        )
        comment = (self.root / "eval-gate" / "comment.md").read_text(encoding="utf-8")
        assert (self.root / "step-summary.md").read_text(encoding="utf-8") == comment
        assert len(comment.encode()) <= limit
        return done.returncode, comment


def call_nothing(messages: list) -> AIMessage:
    """A model that answers at once, without any tool."""
    return AIMessage("I cannot look that up.")


def promote(suite: DocsSuite) -> None:
    """Write the baseline of what is recorded."""
    from eval_pipeline.suite_reading import find_suite

    found = find_suite(suite.data_root, "docs")
    (cell,) = found.cells
    traces = suite.run("none")
    checks = score_cell(found, cell, traces, lambda: Recordings(found.recordings))
    outcomes = cell_outcomes(found, build_report(found, cell, traces, checks))
    plan_promotion(found, cell.dataset, outcomes).write()


@pytest.fixture(scope="module")
def main(tmp_path_factory):
    """A repository with the suite, its recordings, policy and baseline on main."""
    root = tmp_path_factory.mktemp("repository")
    suite = DocsSuite(root)
    dataset = suite.folder / "datasets" / "docs-assistant.yaml"
    content = yaml.safe_load(dataset.read_text(encoding="utf-8"))
    content["cases"] = [case for case in content["cases"] if case["id"] in CASES]
    dataset.write_text(yaml.safe_dump(content, sort_keys=False), encoding="utf-8")
    suite.run("new_episodes")
    (suite.folder / "policy.yaml").write_text(POLICY)
    promote(suite)
    (root / ".gitignore").write_text("/warehouse\n/eval-gate\n/step-summary.md\n")
    git(root, "init", "--quiet", "--initial-branch", "main")
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--message", "Begin")
    git(root, "checkout", "--quiet", "-b", "change")
    return root


@pytest.fixture
def branch(main, tmp_path):
    shutil.copytree(main, tmp_path / "checkout")
    return Branch(tmp_path / "checkout")


def test_an_edited_prompt_that_is_recorded_and_changes_nothing_passes(branch):
    branch.edit("prompts/v1.md", "three", "two")
    branch.run("new_episodes")
    code, comment = branch.gate()
    assert code == 0
    assert "| docs | scripted | docs-assistant | **pass** |" in comment
    assert "prompt: v1 (prompt_sha " in comment
    folder = branch.root / "eval-gate" / "docs.scripted.docs-assistant"
    assert {"decision.json", "junit.xml", "report.json", "outcomes.json"} <= {
        p.name for p in folder.iterdir()
    }
    assert json.loads((folder / "decision.json").read_text())["decision"] == "pass"


def test_a_regression_blocks(branch):
    branch.edit("prompts/v1.md", "three", "two")
    branch.run("new_episodes", ScriptedConnector(call_nothing))
    code, comment = branch.gate()
    assert code == 1
    assert "**decision: BLOCK**" in comment
    assert "docs::backup::tools (passed → failed)" in comment


def test_a_comment_that_is_too_long_is_cut_at_a_line_and_says_so(branch):
    policy = branch.folder / "policy.yaml"
    policy.write_text(f"{POLICY}# edited\n")
    whole = branch.gate()[1].splitlines()
    policy.write_text(f"{POLICY}# edited again\n")
    code, comment = branch.gate(limit=400)
    lines = comment.splitlines()
    assert code == 0
    assert lines[-2:] == ["", "_Cut here: the artifact eval-gate holds the whole._"]
    assert lines[:4] == whole[:4]  # the decision
    assert 250 < len(comment.encode()) <= 400


def test_an_edited_prompt_that_is_not_recorded_fails_and_names_it(branch):
    branch.edit("prompts/v1.md", "three", "two")
    code, comment = branch.gate()
    assert code == 4
    assert "**no decision**" in comment
    assert "prompt changed (" in comment
    assert "--record-mode new_episodes" in comment


def test_a_changed_dataset_is_incomparable(branch):
    branch.edit("datasets/docs-assistant.yaml", "version: 1", "version: 2")
    branch.edit("datasets/docs-assistant.yaml", "id: thanks", "id: many-thanks")
    branch.run("new_episodes")
    code, comment = branch.gate()
    assert code == 2
    assert "cases differ: baseline docs-assistant@1 (cases_sha " in comment


def test_an_edited_baseline_or_policy_does_not_count_and_that_is_said(branch):
    branch.edit("prompts/v1.md", "three", "two")
    branch.run("new_episodes", ScriptedConnector(call_nothing))
    promote(branch)
    (branch.folder / "policy.yaml").write_text("max_regressions: 99\nmin_pass_rate: 0\n")
    code, comment = branch.gate()
    assert code == 1
    for file in ("baselines/docs-assistant.json", "policy.yaml"):
        assert f"data/docs/{file} is edited in this branch; that of main was used" in comment


def test_a_baseline_that_main_lacks_is_not_taken_from_the_branch(branch):
    name = "data/docs/baselines/docs-assistant.json"
    kept = (branch.root / name).read_bytes()
    git(branch.root, "checkout", "--quiet", "main")
    git(branch.root, "rm", "--quiet", name)
    git(branch.root, "commit", "--quiet", "--message", "Drop the baseline")
    git(branch.root, "checkout", "--quiet", "change")
    git(branch.root, "merge", "--quiet", "main")
    (branch.root / name).parent.mkdir(exist_ok=True)
    (branch.root / name).write_bytes(kept)
    code, comment = branch.gate()
    assert code == 2
    assert "no baseline for dataset" in comment


def test_an_answer_edited_in_a_recording_is_listed(branch):
    (recording,) = branch.folder.glob("recordings/openai-scripted/calls.jsonl")
    text = recording.read_text(encoding="utf-8")
    assert text.count("You are welcome!") == 1
    recording.write_text(text.replace("You are welcome!", "You are most welcome!"), encoding="utf-8")
    code, comment = branch.gate()
    assert code == 0
    assert "**Recorded answers edited in this branch**" in comment
    assert "openai:scripted" in comment
    assert "You are most welcome!" in comment


def test_the_comment_is_written_once_and_then_updated(tmp_path):
    log, comment = tmp_path / "log", tmp_path / "comment.md"
    comment.write_text("<!-- eval-gate -->\n**pass**\n")
    stub = tmp_path / "bin" / "gh"
    stub.parent.mkdir()
    stub.write_text(f'#!/bin/sh\necho "$@" >> {log}\ncase "$*" in *--jq*) cat {tmp_path}/ids ;; esac\n')
    stub.chmod(0o755)
    environment = {
        "PATH": f"{stub.parent}:{os.environ['PATH']}",
        "GITHUB_REPOSITORY": "someone/project",
        "PULL_REQUEST": "7",
    }
    for ids, asked in (
        ("", f"api --silent --method POST repos/someone/project/issues/7/comments -F body=@{comment}"),
        ("31\n32\n", f"--method PATCH repos/someone/project/issues/comments/31 -F body=@{comment}"),
    ):
        (tmp_path / "ids").write_text(ids)
        subprocess.run([str(SCRIPTS / "comment.sh"), str(comment)], env=environment, check=True)
        assert asked in log.read_text().splitlines()[-1]


def test_recording_commits_what_is_new_and_says_which_verdicts_moved(branch):
    # Everything is recorded, so that no model is asked; what the branch recorded is what main has.
    environment = os.environ | {
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "BASE": "main",
        "SUITE": "docs",
        "CANDIDATE": "scripted",
        "DATASET": "docs-assistant",
        "OPENAI_API_KEY": "unused",
        "EVAL_DATA": str(branch.data_root),
        "EVAL_WAREHOUSE": str(branch.root / "warehouse"),
        "GITHUB_STEP_SUMMARY": str(branch.root / "step-summary.md"),
    }
    environment.pop("DAGSTER_HOME", None)
    done = subprocess.run(
        [str(SCRIPTS / "record.sh")],
        cwd=branch.root,
        env=environment | {"EVAL_DATA": "data"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "nothing new was recorded" in done.stdout
    assert "**decision: PASS**" in (branch.root / "step-summary.md").read_text(encoding="utf-8")
