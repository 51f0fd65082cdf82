"""`promote`, and what `gate` and `check` say of baselines that are of no use."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from eval_pipeline.cli import app
from eval_pipeline.errors import EvalError, InputError
from eval_pipeline_tests.gate_command.command_lines import cli


def test_promoting_shows_what_changes(promoted):
    code, out = cli("promote", "toy", "--candidate", "loud")
    assert code == 0
    assert "baselines/small.json: baseline rewritten" in out
    assert (
        "gating tests passed: 4/4 (0.51–1.00) → 3/4 (0.30–0.95)" in out
    )  # Wilson, by hand in test_statistics
    assert "  toy::apple::words (passed → failed)" in out
    assert "  parameters: " in out
    assert "nothing of what a gate compares changes" in cli("promote", "toy", "--candidate", "loud")[1]


@pytest.mark.parametrize("command", ["gate", "promote"])
def test_a_baseline_that_cannot_be_read_says_what_helps(promoted, command):
    promoted.write("baselines/small.json", "{")
    with pytest.raises(InputError) as refusal:
        cli(command, "toy", "--candidate", "calm")
    assert str(refusal.value).endswith(
        "; restore the file (git), or delete it and promote an accepted run: "
        "eval-pipeline promote toy --candidate NAME --dataset small"
    )


def test_a_promotion_that_cannot_be_written_leaves_the_old_baseline(promoted, monkeypatch):
    path = promoted.suite / "baselines" / "small.json"
    accepted = path.read_bytes()

    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", fail)
    with pytest.raises(EvalError, match=r"small\.json: cannot be written: No space left on device"):
        cli("promote", "toy", "--candidate", "loud")
    assert path.read_bytes() == accepted
    assert [found.name for found in path.parent.iterdir()] == ["small.json"]


def test_a_dry_run_writes_nothing(toy):
    code, out = cli("promote", "toy", "--candidate", "calm", "--dry-run")
    assert code == 0
    assert "would be a new baseline" in out
    assert not (toy.suite / "baselines").exists()


def test_an_unmeasured_run_is_promoted_only_when_told(toy):
    toy.edit_module(
        "scorer", "        answer = trace.answer or", "        1 / 0\n        answer = trace.answer or"
    )
    refused = CliRunner().invoke(app, ["promote", "toy", "--candidate", "calm"])
    assert refused.exit_code == 3
    # The scorer that breaks is that of `words`, which one case has.
    assert "error: toy: 1 of 4 gating tests were not measured (toy::apple::words)" in refused.stderr
    assert "measure them, or promote with --allow-unmeasured" in refused.stderr
    assert not (toy.suite / "baselines").exists()
    code, out = cli("promote", "toy", "--candidate", "calm", "--allow-unmeasured")
    assert code == 0
    assert "  not measured: 1; no regression will show there\n" in out
    tests = json.loads((toy.suite / "baselines" / "small.json").read_text())["tests"]
    assert [t["outcome"] for t in tests if t["nodeid"] == "toy::apple::words"] == ["error"]


def test_a_run_in_which_nothing_was_measured_is_never_promoted(toy):
    toy.edit("suite.yaml", "    threshold: 0.5", "    threshold: 0.5\n    gating: never")
    for stage in ("tools:ToolCalls", "retrieval:RetrievalById"):
        toy.edit("suite.yaml", stage, f"{stage}\n    gating: never")
    assert cli("promote", "toy", "--candidate", "calm", "--allow-unmeasured")[0] == 3


def test_check_names_a_baseline_of_no_dataset_and_one_that_cannot_be_read(promoted):
    promoted.write("baselines/smal.json", "{}")
    promoted.write("baselines/small.json", "{")
    code, out = cli("check", "toy")
    assert code == 1
    assert "smal.json: a baseline of no dataset" in out
    assert "small.json:1:2: not JSON" in out
