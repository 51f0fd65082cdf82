"""The asset `cases`: a dataset's cases, one partition a dataset."""

import dagster as dg

from eval_pipeline.assets.failures import shown_plainly
from eval_pipeline.assets.partitions import SuitePartitions
from eval_pipeline.assets.resources import EvaluationResource
from eval_pipeline.suites import Suite


def cases_asset(suite: Suite, partitions: SuitePartitions) -> dg.AssetsDefinition:
    """The suite's `cases`."""

    @dg.asset(
        key=[suite.name, "cases"],
        partitions_def=partitions.datasets,
        group_name=suite.name,
        kinds={"yaml", "parquet"},
        description="Inputs with their expectations, one row a case.",
    )
    def cases(context: dg.AssetExecutionContext, evaluation: EvaluationResource) -> dg.MaterializeResult:  # type: ignore[type-arg]
        with shown_plainly():
            stored = evaluation.evaluation(context.run.run_id).store_cases(suite.name, context.partition_key)
        return dg.MaterializeResult(
            data_version=dg.DataVersion(stored.data_version), metadata=dict(stored.numbers)
        )

    return cases
