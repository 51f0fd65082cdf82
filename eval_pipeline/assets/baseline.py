"""The asset `baseline`: the accepted outcomes that a gate compares with, one partition a dataset."""

from pathlib import Path

import dagster as dg
from pydantic import Field

from eval_pipeline.assets.failures import shown_plainly
from eval_pipeline.assets.partitions import SuitePartitions
from eval_pipeline.assets.resources import EvaluationResource
from eval_pipeline.baselines import describe_baseline
from eval_pipeline.gate_files import GateFiles
from eval_pipeline.stored import fresh
from eval_pipeline.suites import Suite


class BaselineConfig(dg.Config):
    """Run config of the assets that read a baseline."""

    baseline: str = Field(default="", description="Another baseline file than the suite's; `none`: without.")


def baseline_asset(suite: Suite, partitions: SuitePartitions) -> dg.AssetsDefinition:
    """The suite's `baseline`."""

    @dg.asset(
        key=[suite.name, "baseline"],
        partitions_def=partitions.datasets,
        group_name=suite.name,
        kinds={"json"},
        description="Accepted outcomes, a reviewed file for each dataset name; promoting a run writes it.",
    )
    def baseline(
        context: dg.AssetExecutionContext, config: BaselineConfig, evaluation: EvaluationResource
    ) -> dg.MaterializeResult:  # type: ignore[type-arg]
        files = GateFiles(baseline=Path(config.baseline) if config.baseline else None)
        with shown_plainly():
            found = evaluation.evaluation(context.run.run_id).suite(suite.name)
            fresh(found.datasets, context.partition_key)
            shown, version = describe_baseline(found, context.partition_key, files)
        return dg.MaterializeResult(data_version=dg.DataVersion(version), metadata=shown)

    return baseline
