"""The asset `calibration`: a judge tried on answers whose defect is known, one partition a judge."""

import dagster as dg

from eval_pipeline.assets.failures import shown_plainly
from eval_pipeline.assets.partitions import SuitePartitions
from eval_pipeline.assets.resources import EvaluationResource
from eval_pipeline.calibration_results import read_calibration_scores, store_calibration
from eval_pipeline.report.calibration import calibration_markdown
from eval_pipeline.suites import Suite


def calibration_asset(suite: Suite, partitions: SuitePartitions) -> dg.AssetsDefinition:
    """The suite's `calibration`."""

    @dg.asset(
        key=[suite.name, "calibration"],
        partitions_def=partitions.judges,
        group_name=suite.name,
        kinds={"deepeval", "parquet"},
        description="What a judge catches and what it flags wrongly, one row a case, metric and repeat.",
    )
    def calibration(
        context: dg.AssetExecutionContext, evaluation: EvaluationResource
    ) -> dg.MaterializeResult:  # type: ignore[type-arg]
        with shown_plainly():
            run = evaluation.evaluation(context.run.run_id)
            stored = store_calibration(run, suite.name, context.partition_key)
            scores = read_calibration_scores(run.warehouse, suite, context.partition_key)
            run.rebuild_catalogue()
        shown = calibration_markdown(suite, context.partition_key, scores)
        return dg.MaterializeResult(
            data_version=dg.DataVersion(stored.data_version),
            metadata={"calibration": dg.MetadataValue.md(shown), **stored.numbers},
        )

    return calibration
