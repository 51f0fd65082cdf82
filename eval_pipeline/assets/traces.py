"""The asset `traces`: everything the system did, one partition a candidate and dataset."""

import dagster as dg

from eval_pipeline.assets.cell_assets import CellWork, cell_asset
from eval_pipeline.assets.partitions import SuitePartitions
from eval_pipeline.evaluation import Evaluation
from eval_pipeline.fingerprints import traces_fingerprint
from eval_pipeline.suites import Suite


def traces_asset(suite: Suite, partitions: SuitePartitions) -> dg.AssetsDefinition:
    """The suite's `traces`."""
    return cell_asset(
        suite,
        partitions,
        "traces",
        [dg.AssetDep([suite.name, name]) for name in ("cases", "documents", "prompts")],
        CellWork(Evaluation.run_shard, Evaluation.store_traces),
        kinds={"langchain", "parquet"},
        code_version=traces_fingerprint(suite),
        description="Answer, tool calls, retrieved documents, usage and errors, one row a case and repeat.",
    )
