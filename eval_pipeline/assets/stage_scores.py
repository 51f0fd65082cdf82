"""The asset `stage_scores`: every stage of every trace scored, one partition a candidate and dataset."""

import dagster as dg

from eval_pipeline.assets.cell_assets import CellWork, cell_asset
from eval_pipeline.assets.partitions import SuitePartitions, calibration_deps
from eval_pipeline.evaluation import Evaluation
from eval_pipeline.fingerprints import ladder_fingerprint
from eval_pipeline.suites import Suite


def stage_scores_asset(suite: Suite, partitions: SuitePartitions) -> dg.AssetsDefinition:
    """The suite's `stage_scores`."""
    return cell_asset(
        suite,
        partitions,
        "stage_scores",
        [dg.AssetDep([suite.name, "traces"]), *calibration_deps(suite)],
        CellWork(Evaluation.score_shard, Evaluation.store_scores),
        kinds={"python", "parquet"},
        code_version=ladder_fingerprint(suite),
        description="Outcome, score and reason of each check, one row a case, stage and metric.",
    )
