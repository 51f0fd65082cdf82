"""The asset `gate_decision`: may a candidate replace its baseline? One partition a candidate and dataset."""

from pathlib import Path

import dagster as dg
from pydantic import Field

from eval_pipeline.assets.baseline import BaselineConfig
from eval_pipeline.assets.failures import shown_plainly
from eval_pipeline.assets.partitions import SuitePartitions, calibration_deps, cell_of
from eval_pipeline.assets.resources import EvaluationResource
from eval_pipeline.gate_files import GateFiles
from eval_pipeline.gate_results import store_decision
from eval_pipeline.gating.render_markdown import render_markdown
from eval_pipeline.suites import Suite

CHECK = "passes"
"""The blocking check: a run that stores any other decision than `pass` fails."""


class GateConfig(BaselineConfig):
    """Run config of a gate."""

    policy: str = Field(default="", description="Another policy file; `default`: the default rules.")


def gate_decision_asset(suite: Suite, partitions: SuitePartitions) -> dg.AssetsDefinition:
    """The suite's `gate_decision`: stored first, and checked afterwards, so that a block can be read."""
    key = [suite.name, "gate_decision"]

    @dg.asset(
        key=key,
        partitions_def=partitions.cells,
        deps=[[suite.name, "stage_report"], [suite.name, "baseline"], *calibration_deps(suite)],
        check_specs=[
            dg.AssetCheckSpec(
                CHECK, asset=dg.AssetKey(key), blocking=True, description="The gate says `pass`."
            )
        ],
        group_name=suite.name,
        kinds={"python", "parquet"},
        description="Pass, block, incomparable or inconclusive, with every reason.",
    )
    def gate_decision(
        context: dg.AssetExecutionContext, config: GateConfig, evaluation: EvaluationResource
    ) -> dg.MaterializeResult:  # type: ignore[type-arg]
        files = GateFiles(
            baseline=Path(config.baseline) if config.baseline else None,
            policy=Path(config.policy) if config.policy else None,
        )
        with shown_plainly():
            run = evaluation.evaluation(context.run.run_id)
            decision, stored = store_decision(run, cell_of(suite.name, context.partition_key), files)
            run.rebuild_catalogue()
        reasons = "; ".join(reason.text for reason in decision.reasons)
        check = dg.AssetCheckResult(
            passed=decision.verdict == "pass",
            check_name=CHECK,
            description=f"{decision.verdict}: {reasons}" if reasons else decision.verdict,
            metadata={"decision": decision.verdict},
        )
        return dg.MaterializeResult(
            data_version=dg.DataVersion(stored.data_version),
            metadata={
                "decision": decision.verdict,
                "reasons": dg.MetadataValue.md(render_markdown(decision)),
                **stored.numbers,
            },
            check_results=[check],
        )

    return gate_decision
