"""The asset `traces`: everything the system did, one partition a candidate and dataset."""

import dagster as dg

from eval_pipeline.assets.failures import shown_plainly
from eval_pipeline.assets.partitions import SuitePartitions, cell_of
from eval_pipeline.assets.resources import EvaluationResource
from eval_pipeline.fingerprints import traces_fingerprint
from eval_pipeline.suites import Suite


def traces_asset(suite: Suite, partitions: SuitePartitions) -> dg.AssetsDefinition:
    """The suite's `traces`."""

    @dg.asset(
        key=[suite.name, "traces"],
        partitions_def=partitions.cells,
        deps=[[suite.name, "cases"], [suite.name, "documents"], [suite.name, "prompts"]],
        group_name=suite.name,
        kinds={"langchain", "parquet"},
        code_version=traces_fingerprint(suite),
        description="Answer, tool calls, retrieved documents, usage and errors, one row a case and repeat.",
    )
    def traces(context: dg.AssetExecutionContext, evaluation: EvaluationResource) -> dg.MaterializeResult:  # type: ignore[type-arg]
        with shown_plainly():
            cell = cell_of(suite.name, context.partition_key)
            stored = evaluation.evaluation(context.run.run_id).store_traces(cell)
        return dg.MaterializeResult(
            data_version=dg.DataVersion(stored.data_version), metadata=dict(stored.numbers)
        )

    return traces
