"""A report is written once for what it says, and again when anything of it changes or is lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from eval_pipeline.evaluation import Evaluation
from eval_pipeline_tests.toy import ToyFiles, write_toy

FILES = ("part.parquet", "report.json", "outcomes.json")


@pytest.fixture
def toy(tmp_path):
    return write_toy(tmp_path)


def run(toy: ToyFiles) -> tuple[str, dict[str, int], Path]:
    """The data version, and when each file was written, in nanoseconds."""
    evaluation = Evaluation(run_id="r", data_root=toy.data, warehouse_root=str(toy.root / "warehouse"))
    (cell,) = evaluation.suite("toy").select_cells("calm")
    evaluation.store_traces(cell)
    evaluation.store_scores(cell)
    _, stored = evaluation.store_report(cell)
    keys = f"suite=toy/dataset={cell.dataset}/candidate={cell.candidate}"
    folder = toy.root / "warehouse" / "stage_report" / keys
    return stored.data_version, {name: (folder / name).stat().st_mtime_ns for name in FILES}, folder


def test_an_unchanged_report_is_not_written_again(toy):
    first, second = run(toy), run(toy)
    assert first == second


def test_a_changed_threshold_writes_it_again(toy):
    version, written, _ = run(toy)
    toy.edit("suite.yaml", "threshold: 0.5", "threshold: 0.6")
    other, again, _ = run(toy)
    assert other != version
    assert all(again[name] > written[name] for name in FILES)


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_is_lost_is_written_again(toy, name):
    version, _, folder = run(toy)
    (folder / name).unlink()
    again, _, _ = run(toy)
    assert again == version
    assert (folder / name).exists()


@pytest.mark.parametrize("name", FILES)
def test_a_file_that_was_changed_is_written_again_though_it_is_as_long(toy, name):
    version, _, folder = run(toy)
    written = (folder / name).read_bytes()
    middle = len(written) // 2
    (folder / name).write_bytes(written[:middle] + bytes([written[middle] ^ 1]) + written[middle + 1 :])
    again, _, _ = run(toy)
    assert again == version
    assert (folder / name).read_bytes() == written
