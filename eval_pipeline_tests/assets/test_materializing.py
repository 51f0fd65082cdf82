"""Assets materialized: what they store and show, and that a key never receives another content's results."""

from __future__ import annotations

import dagster as dg
import pytest

from eval_pipeline.assets.materializing import Materializer
from eval_pipeline.assets.resources import EvaluationResource
from eval_pipeline.assets.suite_assets import suite_assets
from eval_pipeline.errors import EvalError, RecordingMisses, StaleDefinitionsError
from eval_pipeline.evaluation import Evaluation
from eval_pipeline.suite_reading import find_suite
from eval_pipeline_tests.command_line import evaluate_in
from eval_pipeline_tests.docs_suite import DocsSuite


@pytest.fixture
def suite(tmp_path, monkeypatch):
    made = DocsSuite(tmp_path)
    made.run("new_episodes")
    evaluate_in(monkeypatch, made.data_root, tmp_path / "warehouse")
    return made


def loaded(made: DocsSuite):
    suite = find_suite(made.data_root, "docs")
    (cell,) = suite.cells
    return suite, cell


def materialize(suite, names, partition):
    with dg.DagsterInstance.ephemeral() as instance:
        return dg.materialize(
            suite_assets(suite),
            selection=[dg.AssetKey(["docs", name]) for name in names],
            partition_key=partition,
            resources={"evaluation": EvaluationResource()},
            instance=instance,
            raise_on_error=False,
        )


def run(suite, cell, on_progress=lambda done, total: None):
    with Materializer(suite) as materializer:
        materializer.materialize(cell, on_progress)


def materializations(result):
    events = result.get_asset_materialization_events()
    return {e.asset_key.path[-1]: e.step_materialization_data.materialization for e in events}


def test_a_cell_materializes_up_to_its_report_with_the_numbers_that_dagster_plots(suite):
    found, cell = loaded(suite)
    key = dg.MultiPartitionKey({"candidate": cell.candidate, "dataset": cell.dataset})
    shown = materializations(materialize(found, ["traces", "stage_scores", "stage_report"], key))
    metadata = {name: value.value for name, value in shown["stage_report"].metadata.items()}
    assert "| `token-leak` |" in metadata["report"]
    assert metadata["cases"] == 10
    assert {"passed", "pass_rate", "tools_rate", "retrieval_rate"} <= metadata.keys()
    traces = {name: value.value for name, value in shown["traces"].metadata.items()}
    # 19 chat calls and 6 search queries; the ten pages are embedded while the system is built.
    assert (traces["calls"], traces["called"], traces["replayed"]) == (25, 0, 25)


def test_equal_content_has_an_equal_data_version(suite):
    found, cell = loaded(suite)
    key = dg.MultiPartitionKey({"candidate": cell.candidate, "dataset": cell.dataset})
    names = ["traces", "stage_scores", "stage_report"]
    versions = [
        {
            name: m.tags["dagster/data_version"]
            for name, m in materializations(materialize(found, names, key)).items()
        }
        for _ in range(2)
    ]
    assert versions[0] == versions[1]
    assert versions[0].keys() == set(names)


def test_stale_definitions_refuse_a_key_whose_files_have_moved_on(suite):
    found, cell = loaded(suite)
    suite.edit("prompts/v1.md", "three", "two")
    with pytest.raises(StaleDefinitionsError, match="definitions are stale; reload"):
        run(found, cell)


def test_a_miss_fails_the_asset_and_keeps_what_was_stored(suite):
    found, cell = loaded(suite)
    run(found, cell)
    before = Evaluation(run_id="").read_traces(cell)
    for file in suite.folder.glob("recordings/openai-scripted/calls.jsonl"):
        file.write_text("".join(file.read_text().splitlines(keepends=True)[:5]))
    with pytest.raises(RecordingMisses):
        run(found, cell)
    assert Evaluation(run_id="").read_traces(cell) == before


def test_progress_is_told_case_by_case(suite):
    found, cell = loaded(suite)
    told = []
    run(found, cell, lambda done, total: told.append((done, total)))
    assert told == [(n, 10) for n in range(1, 11)]


def test_a_cell_that_no_candidate_declares_is_refused(suite):
    (suite.folder / "datasets" / "other.yaml").write_text("version: 1\ncases: [{id: a, input: 'Hi'}]\n")
    suite.edit("suite.yaml", "    prompt: v1", "    prompt: v1\n    datasets: [docs-assistant]")
    found = find_suite(suite.data_root, "docs")
    (cell,) = found.cells
    undeclared = next(key for key in found.datasets if key != cell.dataset)
    key = dg.MultiPartitionKey({"candidate": cell.candidate, "dataset": undeclared})
    result = materialize(found, ["traces"], key)
    assert "does not evaluate candidate" in str(result.get_step_failure_events()[0].step_failure_data.error)


def test_the_traces_asset_needs_no_materialized_upstream(suite):
    found, cell = loaded(suite)
    key = dg.MultiPartitionKey({"candidate": cell.candidate, "dataset": cell.dataset})
    assert materialize(found, ["traces"], key).success


def test_scores_without_traces_name_the_command_that_stores_them(suite):
    _, cell = loaded(suite)
    with pytest.raises(EvalError, match="eval-pipeline run docs"):
        Evaluation(run_id="").store_scores(cell)


def test_the_same_instance_is_used_when_dagster_home_is_set(suite, tmp_path, monkeypatch):
    home = tmp_path / "home"
    home.mkdir()
    (home / "dagster.yaml").write_text("telemetry: {enabled: false}\n")
    monkeypatch.setenv("DAGSTER_HOME", str(home))
    found, cell = loaded(suite)
    run(found, cell)
    with dg.DagsterInstance.get() as instance:
        stored = instance.get_materialized_partitions(dg.AssetKey(["docs", "stage_report"]))
    assert stored == {cell.partition}
