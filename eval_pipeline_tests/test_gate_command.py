"""The gate's commands over a toy suite in a temporary folder: `gate`, `promote` and `import-report`."""

from __future__ import annotations

import json
import os
import threading
import time
import xml.etree.ElementTree as ET

import pytest
from typer.testing import CliRunner

from benchmarks.gate import make_run
from eval_pipeline.cli import app, main
from eval_pipeline.errors import EvalError, InputError
from eval_pipeline.gating.own_outcomes import outcomes_text
from eval_pipeline_tests.gating.stage_reports import stage_report
from eval_pipeline_tests.toy import write_toy


@pytest.fixture
def toy(tmp_path, monkeypatch):
    made = write_toy(tmp_path)
    monkeypatch.setenv("EVAL_DATA", str(made.data))
    monkeypatch.setenv("EVAL_WAREHOUSE", str(tmp_path / "warehouse"))
    monkeypatch.delenv("DAGSTER_HOME", raising=False)
    monkeypatch.delenv("EVAL_RECORD_MODE", raising=False)
    return made


def cli(*arguments):
    """One command line; `(exit code, stdout)`."""
    result = CliRunner().invoke(app, list(map(str, arguments)))
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, result.stdout


@pytest.fixture
def promoted(toy):
    assert cli("promote", "toy", "--candidate", "calm")[0] == 0
    return toy


def gate(*arguments):
    return cli("gate", "toy", "--candidate", *arguments)


def test_without_a_baseline_nothing_can_be_compared(toy):
    code, out = gate("calm")
    assert code == 2
    assert out.startswith("decision: INCOMPARABLE\n")
    promote = "eval-pipeline promote toy --candidate calm --dataset small"
    assert f"no baseline for dataset 'small'; promote an accepted run of it: {promote}\n" in out


def test_a_promoted_candidate_passes_against_itself(promoted):
    code, out = gate("calm")
    assert (code, out.splitlines()[0]) == (0, "decision: PASS")


def test_a_regression_blocks_and_is_named(promoted):
    code, out = gate("loud")
    assert (code, out.splitlines()[0]) == (1, "decision: BLOCK")
    # `loud` answers AN APPLE IS RED, of 4 gating tests one regresses: 3/4 is below 0.9 too.
    assert "1 regression, max_regressions is 0: toy::apple::words (passed → failed)" in out
    assert "pass rate 3/4" in out


def test_the_suites_policy_is_applied(promoted):
    promoted.write("policy.yaml", "max_regressions: 1\nmin_pass_rate: 0.7\n")
    assert gate("loud")[0] == 0
    promoted.write("policy.yaml", "max_regressions: 1\nmin_pass_rate: 0.7\ncritical: [words]\n")
    assert gate("loud")[0] == 1


def test_another_policy_and_baseline_can_be_given(promoted, tmp_path):
    lenient = tmp_path / "lenient.yaml"
    lenient.write_text("max_regressions: 9\nmin_pass_rate: 0\n")
    assert gate("loud", "--policy", lenient)[0] == 0
    loud = tmp_path / "loud.json"
    loud.write_text(cli("report", "toy", "--candidate", "loud", "--format", "outcomes")[1])
    promoted.write("policy.yaml", "min_pass_rate: 0.7\n")
    code, out = gate("calm", "--baseline", loud)
    assert code == 0
    assert "fixed (1):\n  toy::apple::words (failed → passed)" in out


def test_a_changed_case_is_incomparable(promoted):
    promoted.edit("datasets/small.yaml", "What colour is an apple?", "Which colour has an apple?")
    code, out = gate("calm")
    assert code == 2
    assert "cases differ: baseline small@1 (cases_sha " in out


def test_a_policy_may_name_a_case_of_another_dataset(promoted):
    promoted.write(
        "datasets/more.yaml",
        "version: 1\ncases: [{id: pear, input: 'Is a pear green?', expected: {words: [green]}}]\n",
    )
    promoted.write("policy.yaml", "critical: ['pear::words']\n")
    assert gate("calm", "--dataset", "small")[0] == 0


def test_a_policy_name_that_matches_nothing_is_an_input_error(promoted):
    promoted.write("policy.yaml", "critical: ['aple::words']\n")
    with pytest.raises(InputError, match=r"policy\.yaml:1: critical: 'aple::words' matches no test; did you"):
        gate("calm")
    code, out = cli("check", "toy")
    assert code == 1
    assert "'aple::words' matches no test" in out


@pytest.mark.parametrize(
    ("format", "begins"),
    [
        ("text", "decision: BLOCK\n"),
        ("json", '{\n  "decision": "block"'),
        ("markdown", "**decision: BLOCK**"),
        ("junit", '<?xml version="1.0"'),
    ],
)
def test_each_format_says_the_verdict_first(promoted, format, begins):
    assert gate("loud", "--format", format)[1].startswith(begins)


def test_a_decision_is_also_written_to_files_by_their_endings(promoted, tmp_path):
    outs = [tmp_path / "made" / name for name in ("gate.json", "gate.md", "gate.XML", "gate.txt")]
    code, out = gate("loud", *(part for path in outs for part in ("--out", path)))
    assert code == 1
    assert json.loads(outs[0].read_text())["decision"] == "block"
    assert outs[1].read_text().startswith("**decision: BLOCK**")
    assert ET.parse(outs[2]).getroot().tag == "testsuites"
    assert outs[3].read_text() == out


def test_the_stored_decision_is_what_the_command_prints(promoted):
    printed = json.loads(gate("loud", "--format", "json")[1])
    rows = json.loads(cli("sql", "select * from current_gate_decision", "--format", "json")[1])
    (row,) = [row for row in rows if row["candidate"].startswith("loud@")]
    assert (row["decision"], row["exit_code"]) == ("block", 1)
    assert row["regressed"] == ["toy::apple::words"]
    assert json.loads(row["details"]) == printed


def test_two_files_give_the_decision_that_the_suite_gives(promoted, tmp_path):
    sides = []
    for name in ("calm", "loud"):
        cli("run", "toy", "--candidate", name)
        sides.append(tmp_path / f"{name}.json")
        sides[-1].write_text(cli("report", "toy", "--candidate", name, "--format", "outcomes")[1])
    by_files = cli("gate", *sides, "--format", "json")
    assert by_files == gate("loud", "--format", "json")


def test_every_dataset_is_gated_and_the_first_verdict_by_precedence_is_the_exit_code(promoted):
    promoted.write(
        "datasets/more.yaml",
        "version: 1\ncases: [{id: pear, input: 'Is a pear green?', expected: {words: [green]}}]\n",
    )
    code, out = gate("loud")
    assert code == 2  # `more` has no baseline; `small` blocks
    assert [line for line in out.splitlines() if line.startswith("decision")] == [
        "decision: INCOMPARABLE",
        "decision: BLOCK",
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["toy"], "name a candidate of toy with --candidate: calm, loud; or give two files"),
        (["tyo"], "did you mean 'toy'?"),
        (
            ["toy", "calm"],
            "'toy' is no file; of a suite, --candidate names the candidate: eval-pipeline gate toy",
        ),
        (["toy", "calm", "--dataset", "small"], "gate toy --candidate calm"),
        (["baseline.json"], "or two files"),
        (["a.json", "b.json", "--candidate", "calm"], "--candidate goes with a suite"),
        (["a.json", "b.json"], "a.json"),
        (
            ["a.json", "b.json", "--format", "xml"],
            "'--format': 'xml' is not one of 'text', 'json', 'markdown'",
        ),
        (["toy", "--candidate", "calm", "--policy", "nowhere.yaml"], "nowhere.yaml"),
        (["toy", "--candidate", "calm", "--baseline", "nowhere.json"], "nowhere.json"),
        (["toy", "--candidate", "calm", "--out", "x.pdf"], "end the name in .txt, .json, .md, .xml"),
        (["toy", "--candidate", "clam"], "did you mean 'calm'?"),
    ],
)
def test_a_wrong_call_is_exit_code_4(toy, monkeypatch, capsys, arguments, message):
    monkeypatch.setattr("sys.argv", ["eval-pipeline", "gate", *arguments])
    with pytest.raises(SystemExit) as caught:
        main()
    assert caught.value.code == 4
    assert message in capsys.readouterr().err


def test_neither_the_suites_baseline_nor_its_policy_need_count(promoted):
    assert gate("calm", "--baseline", "none")[0] == 2
    promoted.write("policy.yaml", "max_regressions: 9\nmin_pass_rate: 0\n")
    assert gate("loud")[0] == 0
    assert gate("loud", "--policy", "default")[0] == 1


def test_a_note_is_said_with_the_decision(promoted):
    out = gate("calm", "--note", "the baseline is main's", "--format", "markdown")[1]
    assert out.splitlines()[:3] == ["**decision: PASS**", "", "- no rule is broken"]
    assert "- note: `the baseline is main's`" in out.splitlines()[:6]


def test_a_side_may_come_through_a_pipe(tmp_path):
    run = {"eval": {"suite": "s", "dataset": "d@1", "cases_sha": "a"}, "tests": []}
    run["tests"] = [{"nodeid": "s::c::tools", "outcome": "passed"}]
    (tmp_path / "new.json").write_text(json.dumps(run))
    os.mkfifo(tmp_path / "old")
    writer = threading.Thread(target=lambda: (tmp_path / "old").write_text(json.dumps(run)), daemon=True)
    writer.start()
    assert cli("gate", tmp_path / "old", tmp_path / "new.json")[0] == 0


# promote


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


def test_a_given_baseline_that_cannot_be_read_says_what_helps(promoted):
    with pytest.raises(InputError, match=r"gone\.json: cannot be read: .*; restore the file, or give"):
        gate("calm", "--baseline", "gone.json")


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


# import-report


def test_a_stage_report_is_imported_and_gated_as_itself(tmp_path):
    report, out = tmp_path / "report.json", tmp_path / "outcomes.json"
    report.write_text(json.dumps(stage_report()))
    code, said = cli("import-report", report, "--out", out)
    assert code == 0
    assert "45 outcomes of docs-assistant@1" in said
    assert "bd96d29ac620e83bdee7cebba2a7aa0d03fbc383c4b1ee5e049093a6d384be73" in said
    # pipe-colors fails faithfulness, which the default policy for such reports calls critical.
    assert cli("gate", report, out)[0] == 1
    assert json.loads(cli("import-report", report)[1]) == json.loads(out.read_text())


def test_outcomes_are_no_stage_report(promoted):
    with pytest.raises(EvalError, match="no stage report; it already holds outcomes"):
        cli("import-report", promoted.suite / "baselines" / "small.json")


def test_two_files_of_a_hundred_thousand_outcomes_take_seconds(tmp_path):
    for seed, name in enumerate(("old.json", "new.json")):
        (tmp_path / name).write_text(outcomes_text(make_run(seed, outcomes=100_000, repeats=1)))
    began = time.process_time()
    code, out = cli("gate", tmp_path / "old.json", tmp_path / "new.json")

    # About 1.2 s of CPU here; `benchmarks.gate` holds it to 2 s, and a busy machine may take its time.
    assert time.process_time() - began < 15
    assert (code, out.splitlines()[0]) == (1, "decision: BLOCK")
