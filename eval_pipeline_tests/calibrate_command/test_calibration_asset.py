"""The asset that calibrates: upstream of the scores, and none that they wait for."""

from __future__ import annotations

import dagster as dg

from eval_pipeline.assets.resources import EvaluationResource
from eval_pipeline.assets.suite_assets import suite_assets


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
