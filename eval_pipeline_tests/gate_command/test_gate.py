"""`gate` of a suite: its verdicts and exit codes, its forms, and calls that are wrong."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET

import pytest

from eval_pipeline.cli import main
from eval_pipeline.errors import InputError
from eval_pipeline_tests.gate_command.command_lines import cli, gate


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
        ("md", "**decision: BLOCK**"),
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


def test_a_given_baseline_that_cannot_be_read_says_what_helps(promoted):
    with pytest.raises(InputError, match=r"gone\.json: cannot be read: .*; restore the file, or give"):
        gate("calm", "--baseline", "gone.json")
