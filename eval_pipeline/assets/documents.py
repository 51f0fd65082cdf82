"""The asset `documents`: what the system reads, one partition a dataset."""

import dagster as dg

from eval_pipeline.assets.failures import shown_plainly
from eval_pipeline.assets.partitions import SuitePartitions
from eval_pipeline.assets.resources import EvaluationResource
from eval_pipeline.suites import Suite


def documents_asset(suite: Suite, partitions: SuitePartitions) -> dg.AssetsDefinition:
    """The suite's `documents`."""

    @dg.asset(
        key=[suite.name, "documents"],
        partitions_def=partitions.datasets,
        group_name=suite.name,
        kinds={"markdown", "parquet"},
        description="Pages and fixtures that the system reads, one row a page.",
    )
    def documents(context: dg.AssetExecutionContext, evaluation: EvaluationResource) -> dg.MaterializeResult:  # type: ignore[type-arg]
        with shown_plainly():
            stored = evaluation.evaluation(context.run.run_id).store_documents(
                suite.name, context.partition_key
            )
        return dg.MaterializeResult(
            data_version=dg.DataVersion(stored.data_version), metadata=dict(stored.numbers)
        )

    return documents
