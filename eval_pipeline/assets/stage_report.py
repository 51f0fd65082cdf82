"""The asset `stage_report`: which case fails first at which stage, one partition a candidate and dataset."""

import dagster as dg

from eval_pipeline.assets.failures import shown_plainly
from eval_pipeline.assets.partitions import SuitePartitions, cell_of
from eval_pipeline.assets.resources import EvaluationResource, note_report
from eval_pipeline.report.case_blocks import blocks_markdown
from eval_pipeline.report.markdown import report_markdown
from eval_pipeline.suites import Suite

MOST_ROWS = 500
"""Rows of the report that are shown with the asset; all of them are stored."""
MOST_BLOCKS = 100
"""Cases that the asset's page shows one by one; of more, those that did not pass."""
LONGEST_TEXT = 2_000
"""Characters of an answer that are shown there: Dagster keeps its metadata with each run, twice."""


def stage_report_asset(suite: Suite, partitions: SuitePartitions) -> dg.AssetsDefinition:
    """The suite's `stage_report`."""

    @dg.asset(
        key=[suite.name, "stage_report"],
        partitions_def=partitions.cells,
        deps=[[suite.name, "stage_scores"], [suite.name, "traces"]],
        group_name=suite.name,
        kinds={"python", "parquet"},
        description="The first failing stage of each case, and the rates of each stage.",
    )
    def stage_report(
        context: dg.AssetExecutionContext, evaluation: EvaluationResource
    ) -> dg.MaterializeResult:  # type: ignore[type-arg]
        with shown_plainly():
            run = evaluation.evaluation(context.run.run_id)
            report, stored = run.store_report(cell_of(suite.name, context.partition_key))
            note_report(report)
            run.rebuild_catalogue()
        return dg.MaterializeResult(
            data_version=dg.DataVersion(stored.data_version),
            metadata={
                "report": dg.MetadataValue.md(report_markdown(report, most=MOST_ROWS)),
                "cases_one_by_one": dg.MetadataValue.md(blocks_markdown(report, MOST_BLOCKS, LONGEST_TEXT)),
                **stored.numbers,
            },
        )

    return stage_report
