"""An asset of cells: one step, or one a shard, run as the executor likes, and one that stores them all."""

import inspect
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import dagster as dg

from eval_pipeline.assets.failures import shown_plainly
from eval_pipeline.assets.partitions import SuitePartitions, cell_of
from eval_pipeline.assets.resources import EvaluationResource
from eval_pipeline.evaluation import Evaluation
from eval_pipeline.shards import Shard
from eval_pipeline.stored import Stored
from eval_pipeline.suites import Cell, Suite


@dataclass(frozen=True)
class CellWork:
    """What an asset of cells does."""

    run_shard: Callable[[Evaluation, Cell, Shard], Any]
    """One shard's part; it is pickled, to be read by the last step wherever that runs."""
    store: Callable[[Evaluation, Cell, Sequence[Any]], Stored]
    """Stores a whole cell, of which the parts of shards, if any, are done already."""


def cell_asset(
    suite: Suite,
    partitions: SuitePartitions,
    name: str,
    deps: Sequence[dg.AssetDep],
    work: CellWork,
    **fields: Any,
) -> dg.AssetsDefinition:
    """An asset with a partition for each cell, cut into shards where the suite declares some.

    Args:
        suite: whose asset it is.
        partitions: the suite's.
        name: of the asset.
        deps: what it follows from, for lineage: it reads none of it from Dagster.
        work: what it does.
        fields: its kinds, code version and description.
    """
    fields |= {
        "key": [suite.name, name],
        "partitions_def": partitions.cells,
        "group_name": suite.name,
    }
    make = _sharded_asset if suite.shards > 1 else _whole_asset
    return make(suite, name, deps, work, fields)


def _whole_asset(
    suite: Suite, name: str, deps: Sequence[dg.AssetDep], work: CellWork, fields: dict[str, Any]
) -> dg.AssetsDefinition:
    def whole(context: dg.AssetExecutionContext, evaluation: EvaluationResource) -> dg.MaterializeResult:  # type: ignore[type-arg]
        with shown_plainly():
            cell = cell_of(suite.name, context.partition_key)
            stored = work.store(evaluation.evaluation(context.run.run_id), cell, ())
        return dg.MaterializeResult(
            data_version=dg.DataVersion(stored.data_version), metadata=dict(stored.numbers)
        )

    asset: dg.AssetsDefinition = dg.asset(deps=deps, **fields)(whole)
    return asset


def _sharded_asset(
    suite: Suite, name: str, deps: Sequence[dg.AssetDep], work: CellWork, fields: dict[str, Any]
) -> dg.AssetsDefinition:
    step = f"{suite.name}_{name}"
    ins = {
        dep.asset_key.path[-1]: dg.AssetIn(
            dep.asset_key, dagster_type=dg.Nothing, partition_mapping=dep.partition_mapping
        )
        for dep in deps
    }

    @dg.op(name=f"{step}_shards", ins={given: dg.In(dg.Nothing) for given in ins}, out=dg.DynamicOut(int))
    def shards() -> Iterator[dg.DynamicOutput[int]]:
        for number in range(suite.shards):
            yield dg.DynamicOutput(number, mapping_key=str(number))

    @dg.op(name=f"{step}_shard")
    def run_shard(context: dg.OpExecutionContext, evaluation: EvaluationResource, number: int) -> Any:
        with shown_plainly():
            cell = cell_of(suite.name, context.partition_key)
            return work.run_shard(evaluation.evaluation(context.run_id), cell, Shard(number, suite.shards))

    @dg.op(name=f"{step}_store", out=dg.Out(dg.Nothing))
    def store(
        context: dg.OpExecutionContext, evaluation: EvaluationResource, parts: list[Any]
    ) -> Iterator[dg.Output[None]]:
        with shown_plainly():
            cell = cell_of(suite.name, context.partition_key)
            stored = work.store(evaluation.evaluation(context.run_id), cell, parts)
        context.set_data_version(dg.AssetKey([suite.name, name]), dg.DataVersion(stored.data_version))
        yield dg.Output(None, metadata=dict(stored.numbers))

    def graph(**given: Any) -> Any:
        return store(shards(**given).map(run_shard).collect())

    # Dagster takes the inputs of a graph from the signature.
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    graph.__signature__ = inspect.Signature([inspect.Parameter(given, kind) for given in ins])  # type: ignore[attr-defined]
    return dg.graph_asset(ins=ins, **fields)(graph)
