"""A cell cut into shards gives what it gives in one piece, whatever process ran which part."""

from __future__ import annotations

import pickle
from dataclasses import replace

import dagster as dg
import pytest

from eval_pipeline.assets.executors import find_executor
from eval_pipeline.assets.resources import EvaluationResource
from eval_pipeline.assets.suite_assets import suite_assets
from eval_pipeline.errors import InputError, RecordingMiss, RecordingMisses
from eval_pipeline.evaluation import Evaluation
from eval_pipeline.shards import Shard
from eval_pipeline.stored import NotRecordedError
from eval_pipeline_tests.command_line import evaluate_in
from eval_pipeline_tests.judged_suite import JudgedSuite
from eval_pipeline_tests.scripted_judge import JudgedConnector

SHARDS = 4
REPEATS = 2


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """Ten cases, each run twice, agent and judge recorded."""
    suite = JudgedSuite(tmp_path_factory.mktemp("recorded"), more=f"repeats: {REPEATS}\n")
    suite.score("new_episodes")
    return suite


@pytest.fixture
def evaluate(recorded, tmp_path):
    """An evaluation of the recorded suite with a warehouse of its own, by the warehouse's name."""
    return lambda name="w": Evaluation("r", recorded.data_root, str(tmp_path / name))


def cell_of(evaluation):
    (cell,) = evaluation.suite("docs").cells
    return cell


def sharded(evaluation, n=SHARDS):
    """Store a cell's traces and scores from shards, each of whose parts has been a pickle."""
    cell = cell_of(evaluation)
    shards = [Shard(number, n) for number in range(n)]
    carried = lambda parts: [pickle.loads(pickle.dumps(part)) for part in parts]  # noqa: E731
    traces = evaluation.store_traces(cell, carried(evaluation.run_shard(cell, s) for s in shards))
    scores = evaluation.store_scores(cell, carried(evaluation.score_shard(cell, s) for s in shards))
    return traces, scores


def rows(evaluation, asset):
    cell = cell_of(evaluation)
    table = evaluation.warehouse.read(asset, suite=cell.suite, candidate=cell.candidate, dataset=cell.dataset)
    timed = {"milliseconds", "latency_ms"} & set(table.column_names)
    return table.drop_columns(sorted(timed)).to_pylist()


def test_shards_cover_all_items_once():
    items = list(range(10))
    shares = [Shard(number, 4).take(items) for number in range(4)]
    assert shares == [[0, 4, 8], [1, 5, 9], [2, 6], [3, 7]]


@pytest.mark.parametrize("n", [2, SHARDS, 50])
def test_rows_and_content_are_those_of_one_piece(evaluate, n):
    whole, cut = evaluate("whole"), evaluate("cut")
    cell = cell_of(whole)
    before = whole.store_traces(cell), whole.store_scores(cell)
    after = sharded(cut, n)
    assert [stored.data_version for stored in after] == [stored.data_version for stored in before]
    assert [stored.numbers for stored in after] == [stored.numbers for stored in before]
    for asset in ("traces", "stage_scores"):
        assert rows(cut, asset) == rows(whole, asset)


def test_shards_that_record_ask_what_one_piece_asks(tmp_path):
    asked = {}
    for name, run in (("whole", None), ("cut", sharded)):
        suite = JudgedSuite(tmp_path / name)
        connector = JudgedConnector()
        evaluation = replace(
            Evaluation("r", suite.data_root, str(tmp_path / name / "w")),
            mode="new_episodes",
            connector=connector,
        )
        if run is None:
            evaluation.store_traces(cell_of(evaluation))
            evaluation.store_scores(cell_of(evaluation))
        else:
            run(evaluation)
        files = sorted((suite.folder / "recordings").rglob("*.jsonl"))
        asked[name] = (
            len(connector.judged),
            {file.parent.name: len(file.read_bytes().splitlines()) for file in files},
        )
    assert asked["cut"] == asked["whole"]
    assert asked["cut"][0] > 0


def test_what_several_shards_miss_is_told_together_as_in_one_piece(recorded, tmp_path):
    suite = JudgedSuite(tmp_path)
    suite.run("new_episodes")
    suite.edit("prompts/v1.md", "three", "two")
    evaluation = Evaluation("r", suite.data_root, str(tmp_path / "w"))
    cell = cell_of(evaluation)
    told = []
    for store in (lambda: evaluation.store_traces(cell), lambda: sharded(evaluation)):
        with pytest.raises(RecordingMisses) as caught:
            store()
        told.append(str(caught.value))
    assert told[0] == told[1]
    assert "issue-231, token-leak, thanks (agent): prompt changed (" in told[0]


def test_a_candidate_that_is_not_recorded_is_called_that_by_shards_too(tmp_path):
    suite = JudgedSuite(tmp_path)
    with pytest.raises(NotRecordedError, match="candidate 'scripted' is not recorded"):
        sharded(Evaluation("r", suite.data_root, str(tmp_path / "w")))


def forget_judge(suite, kept):
    (file,) = suite.folder.glob("recordings/openai-judge/calls.jsonl")
    lines = file.read_text().splitlines(keepends=True)
    file.write_text("".join(line for line in lines if kept(line)))


def test_a_judge_recorded_in_part_is_a_miss_though_one_shard_has_nothing_of_it(tmp_path):
    suite = JudgedSuite(tmp_path)
    suite.score("new_episodes")
    forget_judge(suite, lambda line: '"cases": ["backup"]' not in line)
    evaluation = Evaluation("r", suite.data_root, str(tmp_path / "w"))
    with pytest.raises(RecordingMisses) as caught:
        sharded(evaluation, 10)  # a shard a case
    assert {(miss.case_id, miss.role) for miss in caught.value.misses} == {("backup", "judge")}


def test_a_judge_without_any_recording_leaves_its_checks_unmeasured_in_all_shards(tmp_path):
    suite = JudgedSuite(tmp_path)
    suite.run("new_episodes")
    evaluation = Evaluation("r", suite.data_root, str(tmp_path / "w"))
    sharded(evaluation)
    outcomes = {row["outcome"] for row in rows(evaluation, "stage_scores") if row["judge"]}
    assert outcomes == {"not_measured"}


def test_what_no_shard_ran_is_run_by_the_step_that_stores(evaluate):
    whole, cut = evaluate("whole"), evaluate("cut")
    cell = cell_of(whole)
    whole.store_traces(cell)
    cut.store_traces(cell, [cut.run_shard(cell, Shard(0, SHARDS))])
    assert rows(cut, "traces") == rows(whole, "traces")


def test_a_miss_survives_a_pickle():
    miss = pickle.loads(pickle.dumps(RecordingMiss("a", "agent", "m", "prompt changed", 2)))
    assert (str(miss), miss.repeat) == ("a (agent, repeat 2): prompt changed", 2)


@pytest.fixture
def loaded(tmp_path, monkeypatch):
    """A recorded suite with shards, and the folder that its results go to."""
    suite = JudgedSuite(tmp_path, more="shards: 3\n")
    suite.score("new_episodes")
    suite.calibrate("new_episodes")
    evaluate_in(monkeypatch, suite.data_root, tmp_path / "warehouse")
    return suite.suite


def test_sharded_assets_materialize_in_process_as_whole_ones_do(loaded, tmp_path):
    (cell,) = loaded.cells
    key = dg.MultiPartitionKey({"candidate": cell.candidate, "dataset": cell.dataset})
    versions = []
    for suite in (loaded, replace(loaded, shards=1)):
        with dg.DagsterInstance.ephemeral() as instance:
            result = dg.materialize(
                suite_assets(suite),
                selection=[dg.AssetKey(["docs", n]) for n in ("traces", "stage_scores", "stage_report")],
                partition_key=key,
                resources={"evaluation": EvaluationResource()},
                instance=instance,
            )
        steps = {event.step_key for event in result.get_step_success_events()}
        assert any("traces_shard[2]" in step for step in steps) == (suite.shards > 1)
        events = result.get_asset_materialization_events()
        assert [event.asset_key.path[-1] for event in events] == ["traces", "stage_scores", "stage_report"]
        versions.append([event.materialization.tags["dagster/data_version"] for event in events])
    assert versions[0] == versions[1]


def test_sharded_definitions_are_valid_and_have_the_same_lineage(loaded):
    graphs = []
    for suite in (loaded, replace(loaded, shards=1)):
        definitions = dg.Definitions(
            assets=suite_assets(suite), resources={"evaluation": EvaluationResource()}
        )
        dg.Definitions.validate_loadable(definitions)
        graph = definitions.resolve_asset_graph()
        graphs.append({key: graph.get(key).parent_keys for key in graph.get_all_asset_keys()})
    assert graphs[0] == graphs[1]


def test_executors_are_found_by_name_or_by_their_module():
    assert find_executor("in_process") is dg.in_process_executor
    assert find_executor("dagster:multiprocess_executor") is dg.multiprocess_executor


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("celery", "EVAL_EXECUTOR is 'celery'; set in_process, multiprocess, or a module and its executor"),
        ("no_such_module:x", "No module named 'no_such_module'; install what has it, or set in_process"),
        ("dagster:asset", "which is no executor; set in_process"),
    ],
)
def test_an_unknown_executor_is_refused(name, says):
    with pytest.raises(InputError, match=says):
        find_executor(name)
