"""A user's own suite, system and scorer in a folder of theirs, end to end with no edit to eval_pipeline."""

from __future__ import annotations

import json

import pytest

from eval_pipeline_tests.command_line import evaluate_in, run_command
from eval_pipeline_tests.toy import write_toy


@pytest.fixture
def cli(tmp_path, monkeypatch):
    toy = write_toy(tmp_path)
    evaluate_in(monkeypatch, toy.data, tmp_path / "warehouse")
    return run_command


def test_a_suite_of_ones_own_runs_from_its_folder_alone(cli):
    ran = cli("run", "toy")
    assert ran.exit_code == 0
    assert "calm on small: every case passes" in ran.stdout
    assert "apple: words   eval-pipeline explain toy --candidate loud --case apple" in ran.stdout
    report = json.loads(cli("report", "toy", "--candidate", "loud", "--format", "json").stdout)
    rows = {row["id"]: row for row in report["rows"]}
    # "AN APPLE IS RED." holds none of the one expected word: 0/1, below the threshold of 0.5.
    assert (rows["apple"]["first_failure"], rows["apple"]["words"]["score"]) == ("words", 0.0)
    assert rows["apple"]["retrieval"]["recall"] == 1.0
    # `thanks` expects no page and no words: two stages have nothing to say of it.
    assert (rows["thanks"]["retrieval"], rows["thanks"]["words"]) == (None, None)
    assert report["summary"]["passed"] == 1


def test_its_results_are_found_with_sql(cli):
    cli("run", "toy")
    query = "select case_id, score from current_stage_scores where metric = 'words' order by candidate"
    assert json.loads(cli("sql", query, "--format", "json").stdout) == [
        {"case_id": "apple", "score": 1.0},
        {"case_id": "apple", "score": 0.0},
    ]


def test_each_run_is_kept_for_trends(cli):
    cli("run", "toy", "--candidate", "calm")
    cli("run", "toy", "--candidate", "calm")
    query = "select record_mode, cases, passed, calls from runs"
    expected = {"record_mode": "none", "cases": 2, "passed": 2, "calls": 0}
    assert json.loads(cli("sql", query, "--format", "json").stdout) == [expected, expected]


def test_fresh_samples_leave_the_replayed_results_alone(cli, tmp_path):
    cli("run", "toy", "--candidate", "calm")
    before = sorted(path for path in (tmp_path / "warehouse" / "traces").rglob("*.parquet"))
    stored = [path.read_bytes() for path in before]
    cli("run", "toy", "--candidate", "calm", "--record-mode", "all")
    assert [path.read_bytes() for path in before] == stored
    counts = "select (select count(*) from traces) as kept, (select count(*) from sample_traces) as sampled"
    assert json.loads(cli("sql", counts, "--format", "json").stdout) == [{"kept": 2, "sampled": 2}]


def test_check_finds_nothing_wrong_with_it(cli):
    assert (cli("check").exit_code, cli("check").stdout) == (0, "toy: ok\n")
