"""One suite's assets, made alike for every suite; a suite that cannot be read shows as itself."""

import dagster as dg

from eval_pipeline.assets.baseline import baseline_asset
from eval_pipeline.assets.calibration import calibration_asset
from eval_pipeline.assets.cases import cases_asset
from eval_pipeline.assets.documents import documents_asset
from eval_pipeline.assets.gate_decision import gate_decision_asset
from eval_pipeline.assets.partitions import is_calibrated, suite_partitions
from eval_pipeline.assets.prompts import prompts_asset
from eval_pipeline.assets.stage_report import stage_report_asset
from eval_pipeline.assets.stage_scores import stage_scores_asset
from eval_pipeline.assets.traces import traces_asset
from eval_pipeline.suite_reading import BrokenSuite
from eval_pipeline.suites import Suite


def suite_assets(suite: Suite | BrokenSuite) -> list[dg.AssetsDefinition]:
    """All assets of a suite, under its name as key prefix and group."""
    if isinstance(suite, BrokenSuite):
        return [_broken_asset(suite)]
    partitions = suite_partitions(suite)
    makers = (
        cases_asset,
        documents_asset,
        prompts_asset,
        traces_asset,
        stage_scores_asset,
        stage_report_asset,
        baseline_asset,
        gate_decision_asset,
        *((calibration_asset,) if is_calibrated(suite) else ()),
    )
    return [make(suite, partitions) for make in makers]


def _broken_asset(suite: BrokenSuite) -> dg.AssetsDefinition:
    @dg.asset(
        key=[suite.name, "broken_suite"],
        group_name=suite.name,
        description=f"This suite's files cannot be used:\n\n```\n{suite.error}\n```",
    )
    def broken_suite() -> None:
        raise dg.Failure(str(suite.error), allow_retries=False)

    return broken_suite
