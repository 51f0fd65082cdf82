"""The assets of the gate: a decision is stored first, and then fails the run unless it is a pass."""

from __future__ import annotations

import json

import dagster as dg
import pytest

from eval_pipeline.assets.materializing import QUIET
from eval_pipeline.assets.resources import EvaluationResource
from eval_pipeline.assets.suite_assets import suite_assets
from eval_pipeline.baselines import plan_promotion
from eval_pipeline.errors import EvalError
from eval_pipeline.evaluation import Evaluation
from eval_pipeline.gate_files import GateFiles
from eval_pipeline.gate_results import decide_cell, read_cell_outcomes
from eval_pipeline.gating.render import render_json
from eval_pipeline.suite_reading import read_suite
from eval_pipeline_tests.command_line import evaluate_in
from eval_pipeline_tests.toy import write_toy

CELL = ["traces", "stage_scores", "stage_report"]


@pytest.fixture
def toy(tmp_path, monkeypatch):
    made = write_toy(tmp_path)
    evaluate_in(monkeypatch, made.data, tmp_path / "warehouse")
    return made


def materialize(toy, names, candidate="calm", config=None):
    """Materialize assets of a cell; never raises."""
    suite = read_suite(toy.suite)
    (cell,) = suite.select_cells(candidate)
    partition = dg.MultiPartitionKey({"candidate": cell.candidate, "dataset": cell.dataset})
    ops = {f"toy__{names[-1]}": {"config": config}} if config else {}
    with dg.DagsterInstance.ephemeral() as instance:
        return dg.materialize(
            suite_assets(suite),
            selection=[dg.AssetKey(["toy", name]) for name in names],
            partition_key=cell.dataset if names == ["baseline"] else partition,
            resources={"evaluation": EvaluationResource()},
            instance=instance,
            raise_on_error=False,
            run_config={**QUIET, "ops": ops},
        )


def metadata(result):
    (event,) = result.get_asset_materialization_events()[-1:]
    return {
        name: value.value for name, value in event.step_materialization_data.materialization.metadata.items()
    }


def cell_of(toy, candidate):
    (cell,) = read_suite(toy.suite).select_cells(candidate)
    return cell


def promote(toy, candidate="calm"):
    assert materialize(toy, CELL, candidate).success
    evaluation, cell = Evaluation(run_id=""), cell_of(toy, candidate)
    plan_promotion(read_suite(toy.suite), cell.dataset, read_cell_outcomes(evaluation, cell)).write()


def stored(tmp_path, candidate):
    (path,) = tmp_path.glob(f"warehouse/gate_decision/**/candidate={candidate}@*/decision.json")
    return path.read_text(encoding="utf-8")


def test_a_pass_is_stored_and_the_run_succeeds(toy, tmp_path):
    promote(toy)
    result = materialize(toy, [*CELL, "gate_decision"])
    assert result.success
    assert metadata(result)["decision"] == "pass"
    assert json.loads(stored(tmp_path, "calm"))["decision"] == "pass"


def test_a_block_is_stored_with_its_reasons_and_fails_the_run(toy, tmp_path):
    promote(toy)
    result = materialize(toy, [*CELL, "gate_decision"], "loud")
    assert not result.success
    shown = metadata(result)
    assert (shown["decision"], shown["regressed"]) == ("block", 1)
    assert shown["reasons"].startswith("**decision: BLOCK**")
    (check,) = result.get_asset_check_evaluations()
    assert not check.passed
    assert "1 regression" in check.description
    assert json.loads(stored(tmp_path, "loud"))["regressed"][0]["nodeid"] == "toy::apple::words"


@pytest.mark.parametrize("candidate", ["calm", "loud"])
def test_asset_and_function_agree(toy, tmp_path, candidate):
    promote(toy)
    materialize(toy, [*CELL, "gate_decision"], candidate)
    decision = decide_cell(Evaluation(run_id=""), cell_of(toy, candidate), GateFiles())
    assert stored(tmp_path, candidate) == render_json(decision)


def test_run_config_names_another_policy_and_baseline(toy, tmp_path):
    policy = tmp_path / "lenient.yaml"
    policy.write_text("max_regressions: 9\nmin_pass_rate: 0\n")
    promote(toy)
    baseline = toy.suite / "baselines" / "small.json"
    baseline = baseline.rename(tmp_path / "main.json")
    assert not materialize(toy, [*CELL, "gate_decision"], "loud").success
    config = {"policy": str(policy), "baseline": str(baseline)}
    assert materialize(toy, ["gate_decision"], "loud", config).success


def test_a_cell_materializes_without_any_decision(toy):
    assert materialize(toy, CELL, "loud").success
    result = materialize(toy, ["gate_decision"], "loud")
    assert not result.success
    assert metadata(result)["decision"] == "incomparable"


def test_a_decision_needs_stored_outcomes_and_names_the_command(toy):
    result = materialize(toy, ["gate_decision"])
    (failure,) = result.get_step_failure_events()
    assert "eval-pipeline run toy --candidate calm" in str(failure.step_failure_data.error)


@pytest.mark.parametrize(
    ("name", "config", "message"),
    [
        (
            "gate_decision",
            {"baseline": "gone.json"},
            "gone.json: cannot be read: No such file or directory; restore",
        ),
        ("gate_decision", {"policy": "gone.yaml"}, "gone.yaml: cannot be read: No such file or directory"),
        (
            "baseline",
            {"baseline": "gone.json"},
            "gone.json: cannot be read: No such file or directory; restore",
        ),
    ],
)
def test_a_file_that_is_not_there_is_one_error_without_those_beneath(toy, name, config, message):
    materialize(toy, CELL)
    (failure,) = materialize(toy, [name], config=config).get_step_failure_events()
    error = failure.step_failure_data.error
    while not error.message.startswith("dagster._core.definitions.events.Failure"):
        error = error.cause  # Dagster's own wrapping
    assert error.message.startswith(f"dagster._core.definitions.events.Failure: {message}")
    assert len(error.message.splitlines()) == 1
    assert (error.cause, error.context) == (None, None)


def test_stale_outcomes_are_refused(toy):
    materialize(toy, CELL)
    toy.edit("suite.yaml", "threshold: 0.5", "threshold: 0.6")
    with pytest.raises(EvalError, match=r"files say now \(stages\); run: eval-pipeline run toy --candidate"):
        read_cell_outcomes(Evaluation(run_id=""), cell_of(toy, "calm"))


def test_the_baseline_shows_what_it_holds(toy, tmp_path):
    assert "eval-pipeline promote toy" in metadata(materialize(toy, ["baseline"]))["holds"]
    promote(toy)
    shown = metadata(materialize(toy, ["baseline"]))
    assert (shown["holds"], shown["dataset"]) == ("ollama:toy, v1", "small@1")
    assert (shown["cases"], shown["gating tests"], shown["unmeasured"]) == (2, 4, 0)
    assert shown["passed"].startswith("4/4")


def test_equal_decisions_have_equal_data_versions(toy):
    promote(toy)
    versions = set()
    for _ in range(2):
        (event,) = materialize(toy, [*CELL, "gate_decision"]).get_asset_materialization_events()[-1:]
        versions.add(event.step_materialization_data.materialization.tags["dagster/data_version"])
    assert len(versions) == 1
