"""Partitions whose keys are content hashes, computed from the suite's files when definitions load."""

from dataclasses import dataclass

import dagster as dg

from eval_pipeline.suites import Cell, Suite


@dataclass(frozen=True)
class SuitePartitions:
    """The partitions of one suite."""

    candidates: dg.StaticPartitionsDefinition
    datasets: dg.StaticPartitionsDefinition
    cells: dg.MultiPartitionsDefinition
    judges: dg.StaticPartitionsDefinition


def suite_partitions(suite: Suite) -> SuitePartitions:
    """Keys are static: a checkout determines them, and a changed file makes a new one on reload."""
    candidates = dg.StaticPartitionsDefinition(list(suite.candidates))
    datasets = dg.StaticPartitionsDefinition(list(suite.datasets))
    cells = dg.MultiPartitionsDefinition({"candidate": candidates, "dataset": datasets})
    judges = dg.StaticPartitionsDefinition(list(suite.judges) if is_calibrated(suite) else [])
    return SuitePartitions(candidates, datasets, cells, judges)


def cell_of(suite: str, partition_key: str) -> Cell:
    """The cell of a multi-partition key, `candidate|dataset`."""
    candidate, _, dataset = partition_key.partition("|")
    return Cell(suite, candidate, dataset)


def is_calibrated(suite: Suite) -> bool:
    """Whether the suite has judges, and cases to calibrate them on."""
    return bool(suite.calibration and suite.judges)


def calibration_deps(suite: Suite) -> list[dg.AssetDep]:
    """For lineage: any judge's calibration may be missing, and then that judge merely advises."""
    if not is_calibrated(suite):
        return []
    return [dg.AssetDep([suite.name, "calibration"], partition_mapping=dg.AllPartitionMapping())]
