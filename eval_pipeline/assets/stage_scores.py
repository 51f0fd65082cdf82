"""The asset `stage_scores`: every stage of every trace scored, one partition a candidate and dataset."""

import dagster as dg

from eval_pipeline.assets.failures import shown_plainly
from eval_pipeline.assets.partitions import SuitePartitions, calibration_deps, cell_of
from eval_pipeline.assets.resources import EvaluationResource
from eval_pipeline.fingerprints import ladder_fingerprint
from eval_pipeline.suites import Suite


def stage_scores_asset(suite: Suite, partitions: SuitePartitions) -> dg.AssetsDefinition:
    """The suite's `stage_scores`."""

    @dg.asset(
        key=[suite.name, "stage_scores"],
        partitions_def=partitions.cells,
        deps=[[suite.name, "traces"], *calibration_deps(suite)],
        group_name=suite.name,
        kinds={"python", "parquet"},
        code_version=ladder_fingerprint(suite),
        description="Outcome, score and reason of each check, one row a case, stage and metric.",
    )
    def stage_scores(
        context: dg.AssetExecutionContext, evaluation: EvaluationResource
    ) -> dg.MaterializeResult:  # type: ignore[type-arg]
        with shown_plainly():
            cell = cell_of(suite.name, context.partition_key)
            stored = evaluation.evaluation(context.run.run_id).store_scores(cell)
        return dg.MaterializeResult(
            data_version=dg.DataVersion(stored.data_version), metadata=dict(stored.numbers)
        )

    return stage_scores
