"""The asset `prompts`: what the system is told, one partition a candidate."""

import dagster as dg

from eval_pipeline.assets.failures import shown_plainly
from eval_pipeline.assets.partitions import SuitePartitions
from eval_pipeline.assets.resources import EvaluationResource
from eval_pipeline.suites import Suite


def prompts_asset(suite: Suite, partitions: SuitePartitions) -> dg.AssetsDefinition:
    """The suite's `prompts`."""

    @dg.asset(
        key=[suite.name, "prompts"],
        partitions_def=partitions.candidates,
        group_name=suite.name,
        kinds={"markdown", "parquet"},
        description="The prompt of each candidate, one row.",
    )
    def prompts(context: dg.AssetExecutionContext, evaluation: EvaluationResource) -> dg.MaterializeResult:  # type: ignore[type-arg]
        with shown_plainly():
            stored = evaluation.evaluation(context.run.run_id).store_prompt(suite.name, context.partition_key)
        return dg.MaterializeResult(
            data_version=dg.DataVersion(stored.data_version), metadata=dict(stored.numbers)
        )

    return prompts
