"""The commands, run in this process over a recorded suite in a temporary folder."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from eval_pipeline.cli import app, main
from eval_pipeline.errors import InputError
from eval_pipeline_tests.command_line import command_output, evaluate_in
from eval_pipeline_tests.docs_suite import DocsSuite


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    folder = tmp_path_factory.mktemp("suite")
    suite = DocsSuite(folder)
    suite.run("new_episodes")
    return folder


@pytest.fixture
def cli(recorded, monkeypatch):
    """Runs one command line; `(exit code, stdout, stderr)`."""
    evaluate_in(monkeypatch, recorded / "data", recorded / "warehouse")
    return command_output


@pytest.fixture
def ran(cli):
    code, out, err = cli("run", "docs")
    assert code == 0, err
    return out


def test_run_prints_the_report_and_the_explain_command_of_each_failing_case(ran):
    # The scripted model calls one tool a question, so token-leak (which needs both) misses search_docs.
    assert "token-leak: tools" in ran
    assert "eval-pipeline explain docs --candidate scripted --case token-leak" in ran


def test_run_says_where_results_are(ran, recorded):
    for line in (
        f"results  {recorded / 'warehouse'}",
        f"{recorded / 'warehouse' / 'evals.duckdb'}",
        "make ui",
    ):
        assert line in ran


def test_after_an_edit_run_names_the_command_that_compares_and_diff_shows_the_edit(tmp_path, monkeypatch):
    suite = DocsSuite(tmp_path)
    evaluate_in(monkeypatch, suite.data_root, tmp_path / "warehouse")
    suite.run("new_episodes")
    first = CliRunner().invoke(app, ["run", "docs"])
    suite.edit("prompts/v1.md", "three", "two")
    suite.run("new_episodes")
    second = CliRunner().invoke(app, ["run", "docs"])
    assert (first.exit_code, second.exit_code) == (0, 0)
    assert "eval-pipeline diff" not in first.stdout
    assert "diff     eval-pipeline diff docs scripted   (since scripted@" in second.stdout
    shown = CliRunner().invoke(app, ["diff", "docs", "scripted"]).stdout
    # The scripted model answers alike, whatever the prompt says.
    assert "\nnone worse, none better of 10\nno answer changed in 10 cases\n" in shown
    assert "[-three-]{+two+}" in shown


def test_strict_turns_a_failed_case_into_exit_code_1(cli):
    assert cli("run", "docs", "--strict")[0] == 1


def test_report_gives_text_markdown_and_json(cli, ran):
    assert "token-leak" in cli("report", "docs", "--candidate", "scripted")[1]
    for form in ("md", "markdown"):
        assert "| `token-leak` |" in cli("report", "docs", "--candidate", "scripted", "--format", form)[1]
    report = json.loads(cli("report", "docs", "--candidate", "scripted", "--format", "json")[1])
    rows = {row["id"]: row for row in report["rows"]}
    assert rows["token-leak"]["first_failure"] == "tools"
    assert rows["token-leak"]["tools"]["missing"] == ["search_docs"]


def test_explain_walks_through_the_trace(cli, ran):
    code, out, _ = cli("explain", "docs", "--candidate", "scripted", "--case", "two-laptops")
    assert code == 0
    for text in ("question", "search_docs(query=", "<- expected", "answer", "retrieval", "reference"):
        assert text in out


def test_explain_needs_no_stored_results(cli, monkeypatch, tmp_path):
    monkeypatch.setenv("EVAL_WAREHOUSE", str(tmp_path))
    assert (
        "search_docs(query=" in cli("explain", "docs", "--candidate", "scripted", "--case", "two-laptops")[1]
    )


def test_ask_replays_a_recorded_question(cli):
    code, out, _ = cli("ask", "docs", "--candidate", "scripted", "What is the state of issue 231?")
    assert code == 0
    assert "get_issue(number=231)" in out
    assert "0 made" in out


def test_ask_replays_a_case_whatever_white_space_ends_it(cli):
    code, out, _ = cli("ask", "docs", "--candidate", "scripted", " What is the state of issue 231?\n")
    assert (code, "0 made" in out) == (0, True)


def test_keys_prints_commands_for_every_partition(cli):
    out = cli("keys", "docs")[1]
    assert out.count("dagster asset materialize -m eval_pipeline.definitions --select 'docs/") == 3
    assert "docs/traces,docs/stage_scores,docs/stage_report" in out


def test_check_accepts_the_suite(cli):
    code, out, _ = cli("check")
    assert (code, out) == (0, "docs: ok\n")


def test_sql_reads_what_was_stored(cli, ran):
    query = "select count(*) as n from current_stage_scores where stage = 'tools' and metric = 'tools'"
    assert json.loads(cli("sql", query, "--format", "json")[1]) == [{"n": 10}]


def test_candidates_are_found_by_name_or_key(cli, ran):
    key = next(line.strip() for line in cli("keys", "docs")[1].splitlines() if "scripted@" in line)
    assert cli("report", "docs", "--candidate", key)[1] == cli("report", "docs", "--candidate", "scripted")[1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["run", "dcos"], "no suite 'dcos'; did you mean 'docs'?"),
        (["run", "docs", "--candidate", "script"], "no candidate 'script'; did you mean 'scripted'?"),
        (["run", "docs", "--dataset", "v1"], "no dataset 'v1'"),
        (["explain", "docs", "--candidate", "scripted", "--case", "backups"], "did you mean 'backup'?"),
        (["sql", "select * from nowhere"], "nowhere"),
        (["check", "dcos"], "no suite 'dcos'"),
    ],
)
def test_a_wrong_name_is_a_clear_error_with_exit_code_4(cli, ran, monkeypatch, capsys, arguments, message):
    monkeypatch.setattr("sys.argv", ["eval-pipeline", *arguments])
    with pytest.raises(SystemExit) as caught:
        main()
    assert caught.value.code == 4
    assert message in capsys.readouterr().err


def test_an_unrecorded_candidate_is_named_with_the_command_that_records_it(
    cli, recorded, tmp_path, monkeypatch
):
    suite = DocsSuite(tmp_path)
    evaluate_in(monkeypatch, suite.data_root, tmp_path / "warehouse")
    code, _, err = cli("run", "docs")
    assert code == 4
    assert "candidate 'scripted' is not recorded" in err
    assert "--record-mode new_episodes" in err


def test_an_edited_prompt_stops_the_run_and_explain_names_the_part(tmp_path, monkeypatch, capsys):
    suite = DocsSuite(tmp_path)
    suite.run("new_episodes")
    suite.edit("prompts/v1.md", "three", "two")
    evaluate_in(monkeypatch, suite.data_root, tmp_path / "warehouse")
    for arguments in (["run", "docs"], ["explain", "docs", "--candidate", "scripted", "--case", "backup"]):
        monkeypatch.setattr("sys.argv", ["eval-pipeline", *arguments])
        with pytest.raises(SystemExit) as caught:
            main()
        assert caught.value.code == 4
        shown = capsys.readouterr().err
        assert "  backup" in shown
        assert " (agent): prompt changed (" in shown
        assert "eval-pipeline run docs --candidate scripted" in shown


@pytest.mark.parametrize("home", ["relative", "/nowhere/at/all"])
def test_a_dagster_home_that_is_no_folder_is_one_clear_error(cli, monkeypatch, home):
    monkeypatch.setenv("DAGSTER_HOME", home)
    with pytest.raises(InputError, match=rf"DAGSTER_HOME={home}: no folder by that absolute path; make it"):
        cli("run", "docs")
