"""`calibrate`, and what `run`, `explain`, `keys`, `check` and `sql` make of a calibrated judge."""

from __future__ import annotations

import json

import dagster as dg
import pytest
from typer.testing import CliRunner

from eval_pipeline.assets.resources import EvaluationResource
from eval_pipeline.assets.suite_assets import suite_assets
from eval_pipeline.calibration_results import read_records, store_calibration
from eval_pipeline.cli import app, main
from eval_pipeline.evaluation import Evaluation
from eval_pipeline_tests.judged_suite import JudgedSuite
from eval_pipeline_tests.provider_replies import Status
from eval_pipeline_tests.provider_stub import ProviderStub
from eval_pipeline_tests.scripted_judge import JudgedConnector, Question, reply, saying


def sees_postgres(question: Question) -> str:
    return reply(question, ["no" if "mark-1" in question.prompt else "yes"] * (question.items or 0))


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """Everything recorded; with these minimums faithfulness is calibrated, recall (no sound case) is not."""
    folder = tmp_path_factory.mktemp("judged")
    suite = JudgedSuite(folder, more="calibration: {cases: 1}\n")
    connector = JudgedConnector(saying(Verdicts=sees_postgres))
    suite.score("new_episodes", connector)
    suite.calibrate("new_episodes", connector)
    return suite


@pytest.fixture
def cli(recorded, tmp_path, monkeypatch):
    monkeypatch.setenv("EVAL_DATA", str(recorded.data_root))
    monkeypatch.setenv("EVAL_WAREHOUSE", str(tmp_path / "warehouse"))
    monkeypatch.delenv("DAGSTER_HOME", raising=False)
    monkeypatch.delenv("EVAL_RECORD_MODE", raising=False)

    def run(*arguments):
        result = CliRunner().invoke(app, arguments)
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result.exit_code, result.stdout, result.stderr

    return run


def test_calibrate_prints_what_the_judge_caught_and_each_cases_scores(cli):
    code, out, err = cli("calibrate", "docs")
    assert code == 0, err
    rows = [" ".join(line.split()) for line in out.splitlines()]
    assert "faithfulness 1 of 1 0 0 of 1 0 0 1.00 yes" in rows
    assert "faithfulness (plain) 1 of 1 0 0 of 1 0 0 1.00 yes" in rows
    assert any(
        row.startswith("contextual_recall 0 of 1 1 0 of 0 0 0 undefined: one class no: scored 1")
        for row in rows
    )
    assert "engine faithfulness defect 0.00 0.00 0.00 0.70 caught" in rows
    assert "page-missing contextual_recall defect 1.00 1.00 1.00 0.70 missed" in rows


def test_run_calibrates_a_recorded_judge_by_itself_and_shows_its_record(cli):
    code, out, err = cli("run", "docs")
    assert code == 0, err
    assert "gates: judge caught 1 of 1 defects, 0 false alarms in 1 sound answers" in out
    assert "advisory: judge caught 0 of 1 defects, 0 false alarms in 0 sound answers" in out
    assert "answer_relevancy" in out
    assert "advisory: no calibration cases" in out
    assert "write cases into calibration.yaml for: answer_relevancy" in out


def test_explain_shows_the_judges_steps_of_a_case(cli):
    cli("run", "docs")
    out = cli("explain", "docs", "--candidate", "scripted", "--case", "backup")[1]
    assert "claims:" in out
    assert "yes: about" in out


def test_explain_reaches_a_calibration_case_stored_or_not(cli):
    fresh = cli("explain", "docs", "--judge", "openai:judge", "--case", "engine")[1]
    for text in (
        "defect: The page says SQLite.",
        "faithfulness, repeat 3",
        "defect seen",
        "no: about mark-1",
    ):
        assert text in fresh
    cli("calibrate", "docs")
    assert cli("explain", "docs", "--judge", "openai:judge", "--case", "engine")[1] == fresh


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["calibrate", "docs", "--judge", "openai:juge"], "no judge 'openai:juge'; did you mean"),
        (["explain", "docs", "--judge", "openai:judge", "--case", "engin"], "did you mean 'engine'?"),
        (["explain", "docs", "--case", "engine"], "give --candidate for a case of a dataset, or --judge"),
    ],
)
def test_a_wrong_name_is_a_clear_error_with_exit_code_4(cli, monkeypatch, capsys, arguments, message):
    monkeypatch.setattr("sys.argv", ["eval-pipeline", *arguments])
    with pytest.raises(SystemExit) as caught:
        main()
    assert caught.value.code == 4
    assert message in capsys.readouterr().err


def test_keys_lists_judges_with_the_command_that_calibrates_them(cli):
    out = cli("keys", "docs")[1]
    assert "--select 'docs/calibration' --partition 'openai-judge@" in out


def without_notes(text: str) -> list[str]:
    """What `check` says, but for the stages that have too few calibration cases."""
    return [line for line in text.splitlines() if "can only advise" not in line]


def test_check_names_the_stages_that_the_calibration_cases_cannot_let_gate(cli):
    # Of the minimum of 1 and 1, recall has 1 defect alone; relevancy has nothing, and precision never gates.
    code, out, _ = cli("check", "docs")
    told = [line.strip() for line in out.splitlines() if "can only advise" in line]
    assert code == 0
    assert told == [
        "contextual_recall can only advise: calibration.yaml has 1 defect and 0 sound answers for it, "
        "1 of each is needed",
        "answer_relevancy can only advise: calibration.yaml has 0 defects and 0 sound answers for it, "
        "1 of each is needed",
    ]


def test_check_takes_the_judges_calls_for_used(cli):
    assert without_notes(cli("check", "docs")[1]) == ["docs: ok"]


def test_check_and_keys_name_a_judge_that_nothing_is_recorded_of(tmp_path, monkeypatch):
    suite = JudgedSuite(tmp_path)
    suite.run("new_episodes")
    monkeypatch.setenv("EVAL_DATA", str(suite.data_root))
    checked = CliRunner().invoke(app, ["check", "docs"])
    stages = "contextual_precision, faithfulness, contextual_recall, answer_relevancy"
    assert (checked.exit_code, without_notes(checked.stdout)) == (
        0,
        [
            "docs: ok",
            f"  not recorded: judge openai:judge of candidate scripted ({stages}): eval-pipeline run docs "
            "--candidate scripted --dataset docs-assistant --record-mode new_episodes",
            "  not recorded: calibration of judge openai:judge: eval-pipeline calibrate docs "
            "--judge openai:judge --record-mode new_episodes",
        ],
    )
    assert "   (not recorded)\n" in CliRunner().invoke(app, ["keys", "docs"]).stdout


def test_check_and_keys_name_a_calibration_that_is_not_recorded(tmp_path, monkeypatch):
    suite = JudgedSuite(tmp_path)
    suite.score("new_episodes")
    monkeypatch.setenv("EVAL_DATA", str(suite.data_root))
    checked = without_notes(CliRunner().invoke(app, ["check", "docs"]).stdout)
    assert [line.partition(": eval-pipeline")[0] for line in checked] == [
        "docs: ok",
        "  not recorded: calibration of judge openai:judge",
    ]
    assert "   (calibration not recorded)\n" in CliRunner().invoke(app, ["keys", "docs"]).stdout


@pytest.mark.parametrize("view", ["calibration", "current_calibration"])
def test_calibration_can_be_queried(cli, view):
    cli("calibrate", "docs")
    query = f"select metric, count(*) as n from {view} where expected = 'defect' group by all order by all"
    assert json.loads(cli("sql", query, "--format", "json")[1]) == [
        {"metric": "contextual_recall", "n": 3},
        {"metric": "faithfulness", "n": 3},
        {"metric": "faithfulness (plain)", "n": 3},
    ]


def test_an_edited_case_stops_calibrate_and_merely_uncalibrates_run(tmp_path, monkeypatch, capsys):
    suite = JudgedSuite(tmp_path)
    suite.score("new_episodes")
    suite.calibrate("new_episodes")
    suite.edit("calibration.yaml", "PostgreSQL", "MySQL")
    monkeypatch.setenv("EVAL_DATA", str(suite.data_root))
    monkeypatch.setenv("EVAL_WAREHOUSE", str(tmp_path / "warehouse"))
    monkeypatch.setattr("sys.argv", ["eval-pipeline", "calibrate", "docs"])
    with pytest.raises(SystemExit) as caught:
        main()
    assert caught.value.code == 4
    told = capsys.readouterr().err
    assert "engine (judge, repeats 0, 1, 2): answer changed (" in told
    assert "eval-pipeline calibrate docs --judge openai:judge --record-mode new_episodes" in told
    assert "judge not calibrated" in CliRunner().invoke(app, ["run", "docs"]).stdout


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('Faithfulness", threshold: 0.7}', 'Faithfulness", threshold: 0.8}'),
        ('Faithfulness", threshold: 0.7}', 'Faithfulness", threshold: 0.7, parameters: {strict: false}}'),
    ],
)
def test_a_calibration_by_another_threshold_or_strictness_is_none(tmp_path, old, new):
    suite = JudgedSuite(tmp_path, more="calibration: {cases: 1}\n")
    connector = JudgedConnector(saying(Verdicts=sees_postgres))
    suite.calibrate("new_episodes", connector)
    (key,) = suite.suite.judges

    def evaluation() -> Evaluation:
        return Evaluation("r", suite.data_root, str(tmp_path / "warehouse"))

    def records() -> object:
        return read_records(evaluation().warehouse, suite.suite, suite.suite.cells[0])

    store_calibration(evaluation(), "docs", key)
    assert records()["faithfulness"].calibrated
    suite.edit("suite.yaml", old, new)
    assert list(suite.suite.judges) == [key]
    assert records() == {}
    store_calibration(evaluation(), "docs", key)  # replayed: nothing is asked
    assert records()["faithfulness"].calibrated


def test_a_judge_that_was_never_calibrated_is_one_line_with_the_command(tmp_path, monkeypatch, capsys):
    suite = JudgedSuite(tmp_path)
    monkeypatch.setenv("EVAL_DATA", str(suite.data_root))
    monkeypatch.setenv("EVAL_WAREHOUSE", str(tmp_path / "warehouse"))
    monkeypatch.setattr("sys.argv", ["eval-pipeline", "calibrate", "docs"])
    with pytest.raises(SystemExit) as caught:
        main()
    assert caught.value.code == 4
    told = [line for line in capsys.readouterr().err.splitlines() if line.startswith("error: ")]
    assert len(told) == 1
    assert told[0].endswith("eval-pipeline calibrate docs --judge openai:judge --record-mode new_episodes")


def test_a_judge_that_is_not_recorded_does_not_keep_another_from_being_shown(tmp_path, monkeypatch):
    suite = JudgedSuite(tmp_path)
    suite.calibrate("new_episodes")
    suite.edit("suite.yaml", "name: openai:judge", "name: openai:another")  # the suite's own
    own = "    judge: {name: openai:judge, settings: {temperature: 0.4, seed: 7}}"
    second = (
        "  own-judge:\n    model: openai:scripted\n    embedder: openai:scripted-embedder\n    prompt: v1"
    )
    suite.edit("suite.yaml", "candidates:\n", f"candidates:\n{second}\n{own}\n")
    monkeypatch.setenv("EVAL_DATA", str(suite.data_root))
    monkeypatch.setenv("EVAL_WAREHOUSE", str(tmp_path / "warehouse"))
    found = CliRunner().invoke(app, ["calibrate", "docs"])
    assert found.exit_code == 0
    assert "one case: eval-pipeline explain docs --judge openai:judge --case ID" in found.stdout
    # One line for the other, and none for each of its calls.
    told = [line for line in found.stderr.splitlines() if "openai:another" in line]
    assert len(told) == 1
    assert told[0].endswith("eval-pipeline calibrate docs --judge openai:another --record-mode new_episodes")


def test_a_judge_that_cannot_be_reached_is_exit_3_and_does_not_keep_another_from_being_shown(
    tmp_path, monkeypatch
):
    with ProviderStub(lambda asked: Status(404)) as stub:
        suite = JudgedSuite(tmp_path)
        suite.calibrate("new_episodes")
        down = f"    judge: {{name: openai:down, base_url: '{stub.base_url('openai')}'}}"
        second = (
            "  other:\n    model: openai:scripted\n    embedder: openai:scripted-embedder\n    prompt: v1"
        )
        suite.edit("suite.yaml", "candidates:\n", f"candidates:\n{second}\n{down}\n")
        monkeypatch.setenv("OPENAI_API_KEY", "none")  # all of the other judge is recorded
        monkeypatch.setenv("EVAL_DATA", str(suite.data_root))
        monkeypatch.setenv("EVAL_WAREHOUSE", str(tmp_path / "warehouse"))
        found = CliRunner().invoke(app, ["calibrate", "docs", "--record-mode", "new_episodes"])
        assert found.exit_code == 3, found.output
        assert "one case: eval-pipeline explain docs --judge openai:judge --case ID" in found.stdout
        # 2 cases of faithfulness, strict and plain, and one of recall, each three times: 15.
        (told,) = [line for line in found.stderr.splitlines() if line.startswith("error: docs openai-down@")]
        assert (
            "the provider gave no answer for 15 of 15 scores; the first: faithfulness: http_404: openai"
            in told
        )
        key_missing = ["calibrate", "docs", "--judge", "google_genai:judge", "--record-mode", "new_episodes"]
        suite.edit(
            "suite.yaml",
            f"name: openai:down, base_url: '{stub.base_url('openai')}'",
            "name: google_genai:judge",
        )
        monkeypatch.delenv("GOOGLE_API_KEY", raising=False)
        monkeypatch.delenv("GEMINI_API_KEY", raising=False)
        calls = stub.calls
        found = CliRunner().invoke(app, key_missing)
        assert (found.exit_code, stub.calls) == (3, calls)
        assert "set GOOGLE_API_KEY or GEMINI_API_KEY" in found.stderr


def test_what_an_advisory_judge_cannot_say_does_not_change_the_exit_code(tmp_path, monkeypatch):
    suite = JudgedSuite(tmp_path, calibration="")
    suite.score("new_episodes", JudgedConnector(saying(Statements="no JSON")))
    monkeypatch.setenv("EVAL_DATA", str(suite.data_root))
    monkeypatch.setenv("EVAL_WAREHOUSE", str(tmp_path / "warehouse"))
    ran = CliRunner().invoke(app, ["run", "docs"])
    assert ran.exit_code == 0
    assert "nothing measured, 10 errors, advisory: judge not calibrated" in ran.stdout


def test_the_calibration_asset_is_upstream_of_the_scores_and_its_definitions_are_valid(recorded, cli):
    assets = suite_assets(recorded.suite)
    definitions = dg.Definitions(assets=assets, resources={"evaluation": EvaluationResource()})
    dg.Definitions.validate_loadable(definitions)
    graph = definitions.resolve_asset_graph()
    assert (
        dg.AssetKey(["docs", "calibration"]) in graph.get(dg.AssetKey(["docs", "stage_scores"])).parent_keys
    )
    partitions = graph.get(dg.AssetKey(["docs", "calibration"])).partitions_def
    assert partitions is not None
    assert partitions.get_partition_keys() == list(recorded.suite.judges)


def test_scores_materialize_while_the_calibration_is_missing(recorded, cli):
    (cell,) = recorded.suite.cells
    key = dg.MultiPartitionKey({"candidate": cell.candidate, "dataset": cell.dataset})
    with dg.DagsterInstance.ephemeral() as instance:
        result = dg.materialize(
            suite_assets(recorded.suite),
            selection=[dg.AssetKey(["docs", name]) for name in ("traces", "stage_scores", "stage_report")],
            partition_key=key,
            resources={"evaluation": EvaluationResource()},
            instance=instance,
        )
    assert result.success
